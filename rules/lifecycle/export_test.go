package lifecycle

// For tests that may not lie in this package, because they know packages that
// import it.
var (
	ReadCases = readCases
	RunCase   = totals.run
)
