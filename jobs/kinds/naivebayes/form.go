package naivebayes

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops/fmath"
)

// The forms of the model. With n terms, N_y training documents of class y, of which d_jy hold term j, which
// occurs c_jy times in them, w_y occurrences in all, and sums over the other classes written ~y:
//
//	multinomial  log p(w^j|y) = log(c_jy + alpha) - log(w_y + alpha n), once for each occurrence
//	bernoulli    p_jy = (d_jy + alpha) / (N_y + 2 alpha): a term that the document holds, however often, gives
//	             log p_jy, and every other term of the dictionary log(1 - p_jy)
//	complement   -log((c_j~y + alpha) / (w_~y + alpha n)), once for each occurrence
//
// Bernoulli's is McCallum and Nigam, "A comparison of event models for naive Bayes text classification" (1998),
// section 3.1. The complement is Rennie, Shih, Teevan and Karger, "Tackling the poor assumptions of naive Bayes text
// classifiers" (2003), equation (8), with the prior; its scores are weights, so that its posteriors order the classes
// but are no probabilities.
const (
	formMultinomial = "multinomial"
	formBernoulli   = "bernoulli"
	formComplement  = "complement"
)

func forms() []string { return []string{formMultinomial, formBernoulli, formComplement} }

// modelForm names the form in a model: U8 text. Models without it are multinomial.
const modelForm = "form"

func (m *model) formField(f *jobs.Fields) {
	if !f.Has(modelForm, m.params.Form != formMultinomial) {
		if f.Reading() {
			m.params.Form = formMultinomial
		}
		return
	}
	f.Text(modelForm, &m.params.Form)
	f.Require(m.params.Form != formMultinomial, "a multinomial model names its form")
}

// checkForm refuses counts that a form does not have: no term is in more documents than there are.
func (m *model) checkForm() error {
	if m.params.Form != formBernoulli {
		return nil
	}
	for i, n := range m.counts.count {
		if n > m.documents[m.counts.class[i]] {
			return jobs.Malformed("a term is in %d of %d documents", n, m.documents[m.counts.class[i]])
		}
	}
	return nil
}

// weigh fills in the weights of the scorer.
func (s *scorer) weigh() {
	switch s.params.Form {
	case formBernoulli:
		s.weighBernoulli()
	case formComplement:
		s.weighComplement()
	default:
		s.weighMultinomial()
	}
}

func (s *scorer) weighMultinomial() {
	logTotal := s.logTotals()
	logAlpha := fmath.Log(s.params.Alpha)
	for y := range s.unseen {
		s.unseen[y] = logAlpha - logTotal[y]
	}
	for i, n := range s.counts.count {
		s.seen[i] = fmath.Log(float64(n)+s.params.Alpha) - logTotal[s.counts.class[i]]
	}
}

// weighBernoulli weighs a term by its log-odds, for the prior takes every term to be absent.
func (s *scorer) weighBernoulli() {
	alpha, logAlpha := s.params.Alpha, fmath.Log(s.params.Alpha)
	without := make([]float64, len(s.unseen)) // log(N_y - 0 + alpha)
	total := make([]float64, len(s.unseen))
	rest := make([]int64, len(s.unseen)) // terms that are in no document of the class
	for y, n := range s.documents {
		without[y] = fmath.Log(float64(n) + alpha)
		total[y] = fmath.Log(float64(n) + float64(2*alpha))
		s.unseen[y] = logAlpha - without[y]
		rest[y] = int64(s.dictionary.Len())
	}
	for i, n := range s.counts.count {
		y := s.counts.class[i]
		documents := s.documentsOf(i)
		absent, all := fmath.Log(float64(documents-n)+alpha), total[y]
		if documents != s.documents[y] {
			all = fmath.Log(float64(documents) + float64(2*alpha))
		}
		s.seen[i] = fmath.Log(float64(n)+alpha) - absent
		s.prior[y] += absent - all
		rest[y]--
		if s.left != nil {
			s.left.absent[i] = absent - all
		}
	}
	for y, n := range rest {
		s.prior[y] += float64(float64(n) * (without[y] - total[y]))
		if s.left != nil {
			s.left.without[y] = without[y] - total[y]
		}
	}
}

func (s *scorer) weighComplement() {
	all, inClass := int64(0), make([]int64, len(s.unseen))
	for i, n := range s.counts.count {
		all += n
		inClass[s.counts.class[i]] += n
	}
	smoothing := float64(s.params.Alpha * float64(s.dictionary.Len()))
	for y := range s.unseen {
		s.unseen[y] = fmath.Log(float64(all-inClass[y]) + smoothing)
	}
	s.common = make([]float64, s.dictionary.Len())
	for term := range s.common {
		class, count := s.counts.row(term)
		all := sums.Total(count)
		s.common[term] = -fmath.Log(float64(all) + s.params.Alpha)
		begin := s.counts.indptr[term]
		for i, n := range count {
			s.seen[begin+int64(i)] = s.unseen[class[i]] - fmath.Log(float64(all-n)+s.params.Alpha)
		}
	}
}
