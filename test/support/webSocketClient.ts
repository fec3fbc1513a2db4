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
  ask(method: string, ...params: unknown[]): Promise<Answer>
  /** Sends a body and resolves with the next answer, which may be that of a batch. @throws Error when the socket closes
   *  instead */
  send(body: unknown): Promise<unknown>
  /** Resolves once the notifications are as the test says. It is looked at after each. */
  until(isDone: (notifications: Notification[]) => boolean): Promise<void>
  /** Resolves once the head of the block has come. */
  untilHead(hash: Uint8Array): Promise<void>
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
  const answers: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = []
  let look = () => {}
  let beforeAnswer = 0
  socket.on('message', (data) => {
    const message = JSON.parse(String(data))
    if (message.method === undefined) {
      beforeAnswer = notifications.length
      return answers.shift()!.resolve(message)
    }
    notifications.push({ method: message.method, ...message.params })
    look()
  })
  socket.on('close', (code) => {
    for (const { reject } of answers.splice(0)) reject(new Error(`closed with ${code}`))
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
    ask: (method, ...params) => send({ jsonrpc: '2.0', id: 1, method, params }) as Promise<Answer>,
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
