// Package lifecycle evaluates S3 lifecycle configurations without doing any
// input or output: a configuration, the version stack of a key and an instant
// go in, dated events come out.
//
// The three questions it answers are what the configuration says ([Parse]),
// whether S3 would accept it ([Configuration.Validate]) and what it will do to
// an object, when and by which rule ([Configuration.Next],
// [Configuration.Timeline]).
//
// # What a date promises
//
// An [Event] carries the first instant at which S3 may act. S3 acts later, by
// hours or days, and gives no bound. An event whose date has passed has
// therefore not been survived: it may happen at any moment, and says so in
// [Event.Overdue]. Where the documentation leaves two readings the earlier one
// is reported and the later one is kept in [Event.Latest].
//
// # What is not known
//
// The zero values of [Versioning], [Provider] and [Match] all mean [Unknown].
// Whatever is unknown is read in the way that does more harm or acts earlier,
// and the event names the doubt in [Event.Unsure].
//
// # Grades of evidence
//
// Comments name the page of the S3 user guide or API reference a fact comes
// from. "Recorded" marks behaviour seen in answers of the real service but not
// documented, "inferred" marks a reading that follows from the wording only.
package lifecycle
