// Package supportvectormachine is the support vector machine with a kernel as a job: the kind SupportVectorMachine.
package supportvectormachine
