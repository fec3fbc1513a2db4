import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'

/* A process with thousands of WebSocket subscribers to logs, so that neither the server nor the writer of the chain
 * waits for them. It gets a `SubscriberPlan`, says `ready`, then the hash of each new head, and in the end what is
 * wrong. */

/** A filter as in `eth_subscribe`, values as DATA; null: any. */
export interface LogFilterJson {
  readonly address: readonly string[]
  readonly topics: readonly (readonly string[] | null)[]
}

/** Whom to connect to, and the filter of each subscriber. */
export interface SubscriberPlan {
  readonly url: string
  readonly filters: readonly LogFilterJson[]
}

/** A log of the chain as the subscribers should hold it in the end. */
export interface WantedLog {
  readonly blockHash: string
  readonly logIndex: string
  readonly address: string
  readonly topics: readonly string[]
}

/** What subscribers hold in the end, other than they should. */
export interface SubscriberReport {
  readonly faults: readonly string[]
  readonly notifications: number
}

const OPENED_AT_ONCE = 100
const MAX_FAULTS = 10

process.once('message', async ({ url, filters }: SubscriberPlan) => {
  const faults: string[] = []
  /** Numbers of logs, which many subscribers hold. */
  const ids = new Map<string, number>()
  let notifications = 0
  const idOf = (key: string) => {
    const id = ids.get(key) ?? ids.size
    ids.set(key, id)
    return id
  }
  const fault = (text: string) => void (faults.length < MAX_FAULTS && faults.push(text))

  const openOne = async (filter: LogFilterJson, number: number) => {
    const socket = new WebSocket(url)
    const held = new Set<number>()
    let answered = () => {}
    socket.on('close', (code, reason) => fault(`subscriber ${number} was closed: ${code} ${reason}`))
    socket.on('message', (data) => {
      const { params, error } = JSON.parse(String(data))
      if (error !== undefined) fault(`subscriber ${number}: ${error.message}`)
      if (params === undefined) return answered()
      notifications++
      const log = params.result as WantedLog & { removed: boolean }
      const key = `${log.blockHash} ${log.logIndex}`
      const id = idOf(key)
      if (held.has(id) !== log.removed) fault(`subscriber ${number}: ${key}: ${log.removed ? 'not there' : 'twice'}`)
      if (log.removed) held.delete(id)
      else held.add(id)
    })
    await once(socket, 'open')
    const ask = (method: string, ...params: unknown[]) =>
      new Promise<void>((resolve) => {
        answered = resolve
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      })
    await ask('eth_subscribe', 'logs', filter)
    return { filter, held, ask }
  }
  const subscribers: Awaited<ReturnType<typeof openOne>>[] = []
  for (let i = 0; i < filters.length; i += OPENED_AT_ONCE) {
    const some = filters.slice(i, i + OPENED_AT_ONCE)
    subscribers.push(...(await Promise.all(some.map((filter, j) => openOne(filter, i + j)))))
  }
  const watcher = new WebSocket(url)
  await once(watcher, 'open')
  watcher.on('message', (data) => {
    const { params } = JSON.parse(String(data))
    process.send!(params === undefined ? 'ready' : params.result.hash)
  })
  watcher.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))

  // Of the last block only the head is known to have come.
  const [{ path, last }] = (await once(process, 'message')) as [{ path: string; last: string }]
  // Answers come after the notifications that were sent before.
  await Promise.all(subscribers.map(({ ask }) => ask('eth_chainId')))
  const logs: WantedLog[] = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const ofLast = new Set([...ids].filter(([key]) => key.startsWith(last)).map(([, id]) => id))
  const wantedBy = new Map<string, number[]>()
  for (const [number, { filter, held }] of subscribers.entries()) {
    for (const id of held) if (ofLast.has(id)) held.delete(id)
    const key = JSON.stringify(filter)
    const wanted =
      wantedBy.get(key) ??
      logs.filter((log) => isWanted(filter, log)).map((log) => idOf(`${log.blockHash} ${log.logIndex}`))
    wantedBy.set(key, wanted)
    const missing = wanted.filter((id) => !held.has(id)).length
    if (missing > 0 || held.size !== wanted.length) {
      fault(`subscriber ${number} holds ${held.size} logs, ${missing} of ${wanted.length} are missing`)
    }
  }
  process.send!({ faults, notifications } satisfies SubscriberReport)
  process.disconnect()
  process.exit(0)
})

function isWanted({ address, topics }: LogFilterJson, log: WantedLog): boolean {
  if (address.length > 0 && !address.includes(log.address)) return false
  return topics.every((values, i) => i < log.topics.length && (values === null || values.includes(log.topics[i])))
}
