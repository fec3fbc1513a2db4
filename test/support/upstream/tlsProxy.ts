import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'

/** A certificate for 127.0.0.1 that signs itself, valid for a hundred years. Its key is public. */
export const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBkjCCATigAwIBAgIUcd7Fs9ZRyKJ6Gxq0VqcCz6VIPKEwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKY2Fpcm4gdGVzdDAgFw0yNjExMjIxNTIwMzVaGA8yMTI2MTAy
OTE1MjAzNVowFTETMBEGA1UEAwwKY2Fpcm4gdGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABCBrIbi6R/12IczLQDHieWXynD3xY+OwO3kYIQrauF7lXWCwLvy2
z0yCsK7C26nVI1aHOXBys4xaiolzW5Vr3I+jZDBiMB0GA1UdDgQWBBR+dFpE6xs7
iQcD2V+6BEXTHpoDgzAfBgNVHSMEGDAWgBR+dFpE6xs7iQcD2V+6BEXTHpoDgzAP
BgNVHRMBAf8EBTADAQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYIKoZIzj0EAwIDSAAw
RQIgFDxnrHeK7fm80bQyt1xaYxXIjhYKfOeukeB+Q7dNd1wCIQCKasxYs9t6H0pQ
iI+C+JXH6izhruktxkyAAqQpTtfzxg==
-----END CERTIFICATE-----
`
const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5LXMivqYP+hzELvO
TReuAOzN/ggmeLR8M647Qe+Tjk2hRANCAAQgayG4ukf9diHMy0Ax4nll8pw98WPj
sDt5GCEK2rhe5V1gsC78ts9MgrCuwtup1SNWhzlwcrOMWoqJc1uVa9yP
-----END PRIVATE KEY-----
`

/** Ends TLS before a server on a port of this machine. Resolves with its own port; it is closed when the test ends. */
export async function startTlsProxy(t: { after(end: () => void): void }, port: number): Promise<number> {
  const server = createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (socket) => {
    const behind = connect(port, '127.0.0.1')
    for (const each of [socket, behind]) each.on('error', () => {})
    socket.pipe(behind).pipe(socket)
    socket.on('close', () => behind.destroy())
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}
