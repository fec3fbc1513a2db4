import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy whose target changes. */
export interface SwitchedProxy {
  readonly url: string
  /** Connections go to this URL from now on, and present ones are cut; undefined: they are closed at once. */
  lead(url: string | undefined): void
}

/** Starts one on a free port until the test ends. */
export async function startSwitchedProxy(
  t: { after(callback: () => void | Promise<void>): void },
  first: string,
): Promise<SwitchedProxy> {
  let target: string | undefined = first
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    return socket
  }
  const server = createServer((socket) => {
    keep(socket)
    if (target === undefined) return void socket.destroy()
    const { hostname, port } = new URL(target)
    const there = keep(connect(Number(port), hostname))
    socket.pipe(there).pipe(socket)
    socket.on('close', () => there.destroy())
    there.on('close', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    cut()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (url) => {
      target = url
      cut()
    },
  }
}
