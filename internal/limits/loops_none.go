//go:build !amd64 || purego

package limits

func multiplyAdds() []MultiplyAdd { return nil }

func multiplyBytes() MultiplyBytes { return MultiplyBytes{} }

func widest() Bandwidth { return Bandwidth{} }
