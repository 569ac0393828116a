// Package suggest makes a lifecycle configuration for a bucket with backup stores
// that satisfies the scanners which fail a bucket without one, and that provably
// takes no control file.
//
// What it makes is proven before it is given away: by the forecast, and by the rules
// of lifecycle that an audit applies, for every store of the bucket that was seen and
// with the very bytes that are printed. A configuration of which that cannot be shown
// is not given, and the error says why.
package suggest
