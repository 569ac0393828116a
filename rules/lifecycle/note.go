package lifecycle

// Note is something in a document that no field of [Configuration] holds.
type Note struct {
	Why Why
	// Rule is the index of the rule, -1 for the configuration itself.
	Rule int
	// Field is the path of the element within the rule, such as
	// "Expiration.Days".
	Field string
	// Text is the value as written, shortened, where there is one.
	Text string
}

// Why tells notes apart.
type Why uint8

const (
	// UnknownElement: no server documents it.
	UnknownElement Why = iota + 1
	// Extension: an element only MinIO knows. Two of them destroy more than
	// any rule of S3 could.
	Extension
	// Malformed: the value is not of the element's type, and was left unset.
	Malformed
	// Repeated: the element occurs more than once; the first one counts.
	Repeated
	// OldName: the element was written under a name of the older API.
	OldName
)
