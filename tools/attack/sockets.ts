import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attacker, Target } from './attack.js'

/** A connection, open; undefined when the server or the system refuses it. Errors later on are ignored: being cut off
 *  is what an attacker has to expect. */
export async function openSocket({ host, port }: Target): Promise<Socket | undefined> {
  const socket = connect(port, host)
  socket.on('error', () => {})
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}

/** Opens `count` connections, a hundred at a time, and counts those that were refused. */
export async function openSockets({ target, signal, count }: Attacker, wanted: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let opened = 0; opened < wanted && !signal.aborted; opened += 100) {
    const batch = Array.from({ length: Math.min(100, wanted - opened) }, () => openSocket(target))
    for (const socket of await Promise.all(batch)) {
      if (socket) sockets.push(socket)
      else count('connection refused')
    }
  }
  return sockets
}

/** The head of a POST of JSON; with `length`, the announced size of its body. */
export function postHead({ host, port, path }: Target, length: number | 'chunked'): string {
  const size = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  return `POST ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nContent-Type: application/json\r\n${size}\r\n\r\n`
}

/** A whole request. */
export function postText(target: Target, body: string): string {
  return postHead(target, Buffer.byteLength(body)) + body
}

/** A request of a JSON-RPC method. */
export function rpcText(method: string, params: unknown[], id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** Sends a body and reads the answer; counts its HTTP status, and what a JSON-RPC error says. Undefined when there was
 *  no answer. */
export async function ask({ target, signal, count }: Attacker, body: string): Promise<string | undefined> {
  const { host, port, path } = target
  try {
    const response = await fetch(`http://${host}:${port}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      signal,
    })
    const text = await response.text()
    const message = /"error":\{"code":-?\d+,"message":"([^"]{0,60})/.exec(text)?.[1]
    count(
      message === undefined ? `answered ${response.status}` : `${response.status} ${message.replace(/\d{3,}/g, 'N')}`,
    )
    return text
  } catch {
    if (!signal.aborted) count('no answer')
    return undefined
  }
}

/** Waits until the attack is over. */
export async function untilOver(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await pause(signal, 1000)
}

/** Waits, at most until the attack is over. */
export async function pause(signal: AbortSignal, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/** Runs `count` copies of a loop until the attack is over. */
export async function inParallel(
  copies: number,
  signal: AbortSignal,
  step: (copy: number) => Promise<void>,
): Promise<void> {
  const loop = async (copy: number) => {
    while (!signal.aborted) await step(copy)
  }
  await Promise.all(Array.from({ length: copies }, (_, copy) => loop(copy)))
}

/** Counts how connections end, those that the server cut off before the attack was over. */
export function countEnds({ signal, count }: Attacker, sockets: readonly Socket[]): void {
  for (const socket of sockets) {
    let first: string | undefined
    socket.on('data', (chunk: Buffer) => {
      first ??= /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1]
    })
    socket.on('close', () => {
      if (!signal.aborted) count(first === undefined ? 'cut off' : `cut off with ${first}`)
    })
  }
}
