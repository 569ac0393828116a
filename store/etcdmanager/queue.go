package etcdmanager

// NextRestore gives the index of the queued command whose restore etcd-manager
// carries out: the one with the smallest timestamp of those that ask for one.
// The others wait for ever. It is -1 when none does
// (pkg/controller/commands.go). A body that does not parse is passed over; one
// such command keeps etcd-manager from reading any.
func NextRestore(bodies [][]byte) (index int, cmd Command) {
	index = -1
	for i, b := range bodies {
		c, err := ParseCommand(b)
		if err != nil || c.Restore == nil {
			continue
		}
		if index < 0 || c.Nanos < cmd.Nanos {
			index, cmd = i, c
		}
	}
	return index, cmd
}
