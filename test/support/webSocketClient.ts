import { once } from 'node:events'
import { WebSocket } from 'ws'
import { formatData } from '../../src/lib/hex.js'
import type { Answer } from './serving.js'

/** A notification of a subscription, which Ethereum and Starknet name by different members. */
export interface Notification {
  subscription?: string
  subscription_id?: string
  method: string
  result: unknown
}

/** A WebSocket client that keeps the notifications that come, in order. */
export interface SubscribingClient {
  readonly socket: WebSocket
  readonly notifications: Notification[]
  /** How many notifications had come before the last answer. */
  beforeAnswer(): number
  /** Resolves with the answer of the request: answers of requests at once come in any order. @throws Error when the
   *  socket closes instead */
  ask(method: string, ...params: unknown[]): Promise<Answer>
  /** Sends a body and resolves with the next answer that is not of `ask`, which may be that of a batch. @throws Error
   *  when the socket closes instead */
  send(body: unknown): Promise<unknown>
  /** Resolves once the notifications are as the test says. It is looked at after each. */
  until(isDone: (notifications: Notification[]) => boolean): Promise<void>
  /** Resolves once the head of the block has come. */
  untilHead(hash: Uint8Array): Promise<void>
}

/** Ids of `ask`: bodies of `send` have small ones. */
const FIRST_ID = 1_000_000

interface Waiting {
  resolve(answer: unknown): void
  reject(error: Error): void
}

/** Opens a client at `path` of a server. */
export async function openSubscriber(
  t: { after(callback: () => void): void },
  url: string,
  path = '/',
): Promise<SubscribingClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`)
  t.after(() => socket.terminate())
  const notifications: Notification[] = []
  const answers: Waiting[] = []
  const asked = new Map<unknown, Waiting>()
  let nextId = FIRST_ID
  let look = () => {}
  let beforeAnswer = 0
  socket.on('message', (data) => {
    const message = JSON.parse(String(data))
    if (message.method === undefined) {
      beforeAnswer = notifications.length
      const waiting = asked.get(message.id) ?? answers.shift()!
      asked.delete(message.id)
      return waiting.resolve(message)
    }
    notifications.push({ method: message.method, ...message.params })
    look()
  })
  socket.on('close', (code) => {
    for (const { reject } of [...answers.splice(0), ...asked.values()]) reject(new Error(`closed with ${code}`))
    asked.clear()
  })
  await once(socket, 'open')
  const send = (body: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      answers.push({ resolve, reject })
      socket.send(JSON.stringify(body))
    })
  return {
    socket,
    notifications,
    beforeAnswer: () => beforeAnswer,
    send,
    ask: (method, ...params) =>
      new Promise<unknown>((resolve, reject) => {
        const id = nextId++
        asked.set(id, { resolve, reject })
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      }) as Promise<Answer>,
    untilHead: (hash) =>
      new Promise((resolve) => {
        const text = formatData(hash)
        const isHead = (each: Notification | undefined) => (each?.result as { hash?: string })?.hash === text
        look = () => {
          if (isHead(notifications.at(-1))) resolve()
        }
        if (notifications.some(isHead)) resolve()
      }),
    until: (isDone) =>
      new Promise((resolve) => {
        look = () => {
          if (isDone(notifications)) resolve()
        }
        look()
      }),
  }
}
