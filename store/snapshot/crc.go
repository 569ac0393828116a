package snapshot

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// castagnoliPolynomial is reflected, as in hash/crc32.
const castagnoliPolynomial = 0x82f63b78

// multiply multiplies two polynomials over GF(2) modulo Castagnoli's, in the
// reflected order of bits.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		if b&1 != 0 {
			b = b>>1 ^ castagnoliPolynomial
		} else {
			b >>= 1
		}
	}
	return product
}

// squares holds x to the power of 2^n, for each n that a length of 32 bits, in
// bits, needs.
var squares = func() (s [35]uint32) {
	s[0] = 1 << 30
	for i := 1; i < len(s); i++ {
		s[i] = multiply(s[i-1], s[i-1])
	}
	return s
}()

// shifts gives what the checksum of n bytes is multiplied by when it moves in
// front of them: x to the power of 8n. Small n are remembered.
type shifts struct{ known []uint32 }

func (s *shifts) of(n uint32) uint32 {
	const remembered = 1 << 14
	if n >= remembered {
		return shift(n)
	}
	if s.known == nil {
		s.known = make([]uint32, remembered)
	}
	if s.known[n] == 0 {
		s.known[n] = shift(n)
	}
	return s.known[n]
}

func shift(n uint32) uint32 {
	power := uint32(1) << 31 // x to the power of 0
	for bits, i := uint64(n)*8, 0; bits != 0; bits, i = bits>>1, i+1 {
		if bits&1 != 0 {
			power = multiply(squares[i], power)
		}
	}
	return power
}

// join gives the checksum of two pieces after each other from the checksums of
// both and the length of the second.
func (s *shifts) join(first, second uint32, length uint32) uint32 {
	return multiply(s.of(length), first) ^ second
}
