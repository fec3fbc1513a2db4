import { type AddressInfo, createServer, type Server } from 'node:net'
import { CairnError } from '../../lib/errors.js'
import { isLoopback } from '../../server/access/cors.js'
import { BACKLOG } from '../../server/connections/connections.js'

/** Listening on a port failed; `cause` has the system's `code`. */
export class ListenFailed extends CairnError {
  readonly host: string
  readonly port: number
  /** The options that name the port. */
  readonly options: 'calls' | 'metrics' | 'engine'
  constructor(address: { host: string; port: number; options: ListenFailed['options'] }, cause: Error) {
    super(`cannot listen on ${address.host} port ${address.port}: ${cause.message}`, { cause })
    this.host = address.host
    this.port = address.port
    this.options = address.options
  }
}

/** Listens on a port; `options` says which options name it. @throws ListenFailed */
export function listen(server: Server, address: Address, options: ListenFailed['options']): Promise<void> {
  return listenOn(server, { ...address, reusePort: false }, options)
}

/** What listening fails with where the system has no SO_REUSEPORT. */
const NOT_SHARED = new Set(['ENOTSUP', 'ENOPROTOOPT', 'EINVAL'])

/** Listens on a port that threads of this process will listen on too. False if the system cannot share it: it then
 *  belongs to this server alone. @throws ListenFailed, also if another process shares the port */
export async function listenShared(
  server: Server,
  { host, port }: Address,
  options: ListenFailed['options'],
): Promise<boolean> {
  // With SO_REUSEPORT (socket(7)), two servers of one user on one port would share its connections unnoticed.
  const probe = createServer()
  await listenOn(probe, { host, port, reusePort: false }, options)
  const free = (probe.address() as AddressInfo).port
  await new Promise((resolve) => probe.close(resolve))
  try {
    await listenOn(server, { host, port: free, reusePort: true }, options)
    return true
  } catch (error) {
    if (!NOT_SHARED.has((error as { cause?: NodeJS.ErrnoException }).cause?.code ?? '')) throw error
    await listenOn(server, { host, port: free, reusePort: false }, options)
    return false
  }
}

interface Address {
  readonly host: string
  readonly port: number
}

function listenOn(
  server: Server,
  { host, port, reusePort }: Address & { reusePort: boolean },
  options: ListenFailed['options'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(new ListenFailed({ host, port, options }, cause))
    server.once('error', fail)
    server.listen({ port, host, backlog: BACKLOG, reusePort }, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

/** The URL of a listening server, without a path. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  if (isLoopback(address) && address !== '::1') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
