// A gRPC server that lets a call through only with an accepted credential, and ends a stream when its credential has ended.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"keyreeve"
)

func main() {
	client, err := keyreeve.New(keyreeve.Config{
		URL:        os.Getenv("KEYREEVE_URL"),
		ServiceKey: os.Getenv("KEYREEVE_SERVICE_KEY"),
	})
	if err != nil {
		log.Fatal(err)
	}
	server, err := newServer(client, 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:3000")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Serve(listener))
}

// The interval is that between the verifications of an open stream.
func newServer(client *keyreeve.Client, interval time.Duration) (*grpc.Server, error) {
	scopes := []string{"orders:read"}
	first, err := client.NewCheck(keyreeve.CheckOptions{Scopes: scopes})
	if err != nil {
		return nil, err
	}
	// Spends no tokens of the limits of a key.
	again, err := client.NewCheck(keyreeve.CheckOptions{Scopes: scopes, Cost: keyreeve.Cost(0)})
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(guardCall(first)), grpc.StreamInterceptor(guardStream(first, again, interval)))
	// Your services are here.
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	return server, nil
}

func guardCall(check *keyreeve.Check) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		ctx, err := authorize(ctx, check)
		if err != nil {
			return nil, err
		}
		return handle(ctx, request)
	}
}

func guardStream(first, again *keyreeve.Check, interval time.Duration) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		ctx, err := authorize(stream.Context(), first)
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- handle(service, guardedStream{stream, ctx}) }()
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case err := <-ended:
				return err
			case <-ticker.C:
				_, err := authorize(stream.Context(), again)
				// A limit without tokens ends no stream, because the credential is still valid.
				if err != nil && status.Code(err) != codes.ResourceExhausted {
					// Ends the stream, so that the handler gets an error from it.
					return err
				}
			}
		}
	}
}

type guardedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s guardedStream) Context() context.Context { return s.ctx }

var codeOf = map[int]codes.Code{
	http.StatusUnauthorized:       codes.Unauthenticated,
	http.StatusForbidden:          codes.PermissionDenied,
	http.StatusTooManyRequests:    codes.ResourceExhausted,
	http.StatusServiceUnavailable: codes.Unavailable,
}

// Handlers read the result with keyreeve.ResultFrom.
func authorize(ctx context.Context, check *keyreeve.Check) (context.Context, error) {
	header, _ := metadata.FromIncomingContext(ctx)
	address := ""
	if caller, ok := peer.FromContext(ctx); ok {
		address, _, _ = net.SplitHostPort(caller.Addr.String())
	}
	accepted, refused := check.Request(ctx, header, address)
	if refused != nil {
		return nil, status.Error(codeOf[refused.Status], refused.Code)
	}
	return accepted.Context(ctx), nil
}
