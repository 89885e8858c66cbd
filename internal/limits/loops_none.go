//go:build !amd64 || purego

package limits

func multiplyAdds() []MultiplyAdd { return nil }

func widest() Bandwidth { return Bandwidth{} }
