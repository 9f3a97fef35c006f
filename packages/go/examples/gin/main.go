// An API with gin that lets a request through only with an accepted credential.
package main

import (
	"log"
	"maps"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

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
	router, err := newRouter(client)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(router.Run("127.0.0.1:3000"))
}

func newRouter(client *keyreeve.Client) (*gin.Engine, error) {
	canRead, err := client.NewCheck(keyreeve.CheckOptions{Scopes: []string{"orders:read"}, RateLimitFields: true})
	if err != nil {
		return nil, err
	}
	router := gin.New()
	// By default, gin reads the client IP from X-Forwarded-For, which each client can set. List your proxies here.
	if err := router.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	router.GET("/orders", require(canRead), func(c *gin.Context) {
		caller, _ := keyreeve.ResultFrom(c.Request.Context())
		c.JSON(http.StatusOK, gin.H{"nickname": caller.Nickname, "orders": []string{}})
	})
	return router, nil
}

func require(check *keyreeve.Check) gin.HandlerFunc {
	return func(c *gin.Context) {
		accepted, refused := check.Request(c.Request.Context(), c.Request.Header, c.ClientIP())
		if refused != nil {
			refused.Write(c.Writer)
			c.Abort()
			return
		}
		maps.Copy(c.Writer.Header(), accepted.Header)
		c.Request = c.Request.WithContext(accepted.Context(c.Request.Context()))
	}
}
