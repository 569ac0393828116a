// Package recovery says what to do about a backup store in trouble: in which
// order, with which contents and commands. It is pure: it prints nothing and
// runs nothing.
package recovery
