//go:build unix

package keyreeve

import (
	"errors"
	"net"
	"syscall"
)

// isQuiet reports whether nothing has arrived on a connection: no byte, and not its end. It reads no byte and does not wait.
func isQuiet(network net.Conn) bool {
	socket, ok := network.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	isQuiet := false
	err = raw.Read(func(descriptor uintptr) bool {
		var first [1]byte
		// Go's sockets do not block.
		_, _, err := syscall.Recvfrom(int(descriptor), first[:], syscall.MSG_PEEK)
		isQuiet = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK)
		return true
	})
	return err == nil && isQuiet
}
