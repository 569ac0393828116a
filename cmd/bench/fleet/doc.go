// Command fleet measures an audit of many stores beside bare clients of the AWS
// SDK: one that makes the very same requests, and one that only lists the keys.
// Everything runs as a process of its own (the S3 server, the audit, each client),
// so that time and memory are theirs alone. Then it scrapes a serving backstop. docs/performance.md says what came of
// it, and `make bench` runs it.
package main
