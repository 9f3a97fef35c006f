package main

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"keyreeve"
	"keyreeve/examples/service"
)

// The interval of the test: each verification of an open stream follows the one before.
const interval = time.Millisecond

// accountDescription is a service with a method and a stream that return the account of the caller. The stream then waits for a
// message.
var accountDescription = grpc.ServiceDesc{
	ServiceName: "test.Account",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Get", Handler: func(
		_ any, ctx context.Context, _ func(any) error, intercept grpc.UnaryServerInterceptor,
	) (any, error) {
		handle := func(ctx context.Context, _ any) (any, error) { return accountOf(ctx), nil }
		return intercept(ctx, nil, &grpc.UnaryServerInfo{}, handle)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Watch", ServerStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
		if err := stream.SendMsg(accountOf(stream.Context())); err != nil {
			return err
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}}},
}

func accountOf(ctx context.Context) *wrapperspb.StringValue {
	result, _ := keyreeve.ResultFrom(ctx)
	return wrapperspb.String(result.AccountID)
}

func connect(t *testing.T) *grpc.ClientConn {
	t.Helper()
	server, err := newServer(service.Client(t), interval)
	if err != nil {
		t.Fatal(err)
	}
	server.RegisterService(&accountDescription, struct{}{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func with(key service.Key) context.Context {
	return metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+key.Secret)
}

// call repeats a call that Keyreeve has not answered within the deadline of the library.
func call(t *testing.T, connection *grpc.ClientConn, ctx context.Context) (string, error) {
	t.Helper()
	for {
		account := &wrapperspb.StringValue{}
		err := connection.Invoke(ctx, "/test.Account/Get", &wrapperspb.StringValue{}, account)
		if status.Code(err) != codes.Unavailable {
			return account.Value, err
		}
	}
}

func assertCode(t *testing.T, err error, code codes.Code, message string) {
	t.Helper()
	if status.Code(err) != code || status.Convert(err).Message() != message {
		t.Fatalf("%v, expected %v %s", err, code, message)
	}
}

func TestACallIsAcceptedWithAKeyWithTheScopeUntilItsDeletion(t *testing.T) {
	connection := connect(t)
	_, err := call(t, connection, context.Background())
	assertCode(t, err, codes.Unauthenticated, "missing_credential")
	_, err = call(t, connection, with(service.CreateKey(t, `"scopes":[]`)))
	assertCode(t, err, codes.PermissionDenied, "insufficient_scope")
	_, err = call(t, connection, with(service.CreateKey(t, `"scopes":["orders:read"],"addresses":["203.0.113.0/24"]`)))
	assertCode(t, err, codes.PermissionDenied, "address_not_allowed")

	key := service.CreateKey(t, `"scopes":["orders:read"],"limits":{"quota":{"limit":1,"per":"month"}}`)
	account, err := call(t, connection, with(key))
	if err != nil || len(account) < 5 || account[:4] != "acc_" {
		t.Fatal(account, err)
	}
	_, err = call(t, connection, with(key))
	assertCode(t, err, codes.ResourceExhausted, "quota_exceeded")
	service.DeleteKey(t, key)
	_, err = call(t, connection, with(key))
	assertCode(t, err, codes.Unauthenticated, "invalid_credential")
}

func TestAStreamIsRefusedLikeACall(t *testing.T) {
	stream, err := grpc_health_v1.NewHealthClient(connect(t)).Watch(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	assertCode(t, err, codes.Unauthenticated, "missing_credential")
}

func TestAnOpenStreamEndsWhenItsKeyIsDeleted(t *testing.T) {
	connection := connect(t)
	for {
		// The stream spends the only token.
		key := service.CreateKey(t, `"scopes":["orders:read"],"limits":{"quota":{"limit":1,"per":"month"}}`)
		err := endOfStream(t, connection, key)
		// Keyreeve has not answered within the deadline of the library.
		if status.Code(err) == codes.Unavailable {
			continue
		}
		assertCode(t, err, codes.Unauthenticated, "invalid_credential")
		return
	}
}

func endOfStream(t *testing.T, connection *grpc.ClientConn, key service.Key) error {
	t.Helper()
	stream, err := connection.NewStream(with(key), &grpc.StreamDesc{ServerStreams: true}, "/test.Account/Watch")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(&wrapperspb.StringValue{}); err != nil {
		t.Fatal(err)
	}
	account := &wrapperspb.StringValue{}
	if err := stream.RecvMsg(account); err != nil {
		return err
	}
	if account.Value[:4] != "acc_" {
		t.Fatal(account)
	}
	service.DeleteKey(t, key)
	return stream.RecvMsg(account)
}
