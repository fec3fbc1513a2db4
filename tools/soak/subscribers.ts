import { once } from 'node:events'
import { WebSocket } from 'ws'
import { formatData } from '../../src/lib/hex.js'
import { matchesFilter } from '../../test/support/compare/matchesFilter.js'
import type { SoakBlock, SoakFilter } from './chain.js'

/** A WebSocket client subscribed to new heads and to the logs of a filter, which replays its notifications. */
export interface SoakSubscriber {
  /** Notifications so far. */
  readonly received: number
  /** Resolves when it was notified of this head. */
  reaches(hash: Uint8Array): Promise<void>
  /** Differences between its notifications and the chain, whose newest block's logs may not have come yet. Empty: none;
   *  then the blocks that no reorg removes any more are forgotten, so that memory does not grow with the chain. */
  compare(blocks: readonly SoakBlock[]): string[]
  close(): void
}

interface LogObject {
  blockHash: string
  logIndex: string
  removed: boolean
}
interface HeadObject {
  number: string
  hash: string
  parentHash: string
}
interface Message {
  id?: number
  result?: string
  params?: { subscription: string; result: LogObject & HeadObject }
}

/** More than a reorg removes. */
const KEPT_BLOCKS = 128

/** Opens one on a server whose chain has `blocks`. */
export async function openSoakSubscriber(
  url: string,
  { filter, blocks }: { filter: SoakFilter; blocks: readonly SoakBlock[] },
): Promise<SoakSubscriber> {
  const faults: string[] = []
  const heads = new Map(blocks.map(({ hash }, number) => [number, formatData(hash)]))
  let first = blocks.length
  let firstHead = 0
  const logs = new Set<string>()
  const answers: ((result: string) => void)[] = []
  let [newest, received, logsId] = ['', 0, '']
  let look = () => {}

  const takeHead = ({ number, hash, parentHash }: HeadObject) => {
    const at = Number(number)
    if (heads.get(at - 1) !== parentHash) faults.push(`head ${at} ${hash} does not link to the head before`)
    for (let above = at; heads.delete(above); above++);
    heads.set(at, hash)
    newest = hash
    look()
  }
  const takeLog = ({ blockHash, logIndex, removed }: LogObject) => {
    const key = `${blockHash} ${logIndex}`
    if (logs.has(key) !== removed) faults.push(`log ${key}: ${removed ? 'removed, but not there' : 'twice'}`)
    if (removed) logs.delete(key)
    else logs.add(key)
  }
  const forgetBelow = (chain: readonly SoakBlock[], number: number) => {
    for (; firstHead < number; firstHead++) heads.delete(firstHead)
    for (; first < number; first++) for (const key of logKeys(chain[first], filter)) logs.delete(key)
  }
  const socket = new WebSocket(url)
  socket.on('message', (data) => {
    const { params, result } = JSON.parse(String(data)) as Message
    if (params === undefined) return answers.shift()!(result!)
    received++
    if (params.subscription === logsId) takeLog(params.result)
    else takeHead(params.result)
  })
  socket.on('error', (error) => void faults.push(error.message))
  socket.on('close', (code) => void faults.push(`the server closed the connection: ${code}`))
  await once(socket, 'open')
  const subscribe = (...params: unknown[]) =>
    new Promise<string>((resolve) => {
      answers.push(resolve)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
    })
  logsId = await subscribe('logs', {
    address: filter.addresses.map(formatData),
    topics: filter.topics.map((values) => values?.map(formatData) ?? null),
  })
  await subscribe('newHeads')
  return {
    get received() {
      return received
    },
    reaches: (hash) =>
      new Promise((resolve) => {
        look = () => {
          if (newest === formatData(hash) || faults.length > 0) resolve()
        }
        look()
      }),
    compare: (chain) => {
      const wrong = [...faults]
      const newestNumber = chain.length - 1
      for (let number = firstHead; number < chain.length; number++) {
        const { hash } = chain[number]
        if (heads.get(number) !== formatData(hash)) wrong.push(`head ${number}: reported ${heads.get(number)}`)
      }
      const wanted = new Set(chain.slice(first, newestNumber).flatMap((block) => logKeys(block, filter)))
      const early = new Set(logKeys(chain[newestNumber], filter))
      for (const key of wanted) if (!logs.has(key)) wrong.push(`log ${key} was not reported`)
      for (const key of logs) if (!wanted.has(key) && !early.has(key)) wrong.push(`log ${key} is not on the chain`)
      if (wrong.length === 0) forgetBelow(chain, newestNumber - KEPT_BLOCKS)
      return wrong
    },
    close: () => {
      socket.removeAllListeners('close')
      socket.terminate()
    },
  }
}

function logKeys({ hash, logs }: SoakBlock, filter: SoakFilter): string[] {
  return logs
    .map((log, i) => ({ log, key: `${formatData(hash)} 0x${i.toString(16)}` }))
    .filter(({ log }) => matchesFilter(log, { fromBlock: 0, toBlock: 0, ...filter }))
    .map(({ key }) => key)
}
