import assert from 'node:assert/strict'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { accountAddress, VAULT } from '../../test/support/chains/stateChain.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { makeCall, openClient, quantile } from '../lib/client.js'
import { readCpuMs } from '../lib/processorTime.js'
import { formatRatio, printTable } from '../lib/table.js'
import { type GethPair, openGethPair } from './gethPair.js'
import type { EvmRun } from './options.js'

/** How a server answers `eth_getProof` at one height. */
interface ServerFigures {
  /** On `CONNECTIONS` connections. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Processor time of the server for one proof. */
  cpuMs: number
}

/** `eth_getProof` at a height, of Cairn and of geth. */
export interface GethProofFigures {
  blocksBehind: number
  cairn: ServerFigures
  geth: ServerFigures
}

const CONNECTIONS = 4
const SLOTS = 10
/** Heights that both have. geth keeps the states of 128 blocks. */
const BEHIND = [0, 1, 64, 127]
const WARM_REQUESTS = 200
/** Answers that are compared at each height. */
const COMPARED = 50

/** Asks Cairn, which follows a full geth, and this geth for the same proofs: of an account of a large state, and of 10
 *  slots of a contract, in turn. Half of the accounts do not exist. @throws Error without geth, or when two answers
 *  differ */
export async function measureGethProofs(run: EvmRun): Promise<GethProofFigures[]> {
  const { accounts, seconds, 'update-blocks': updateBlocks } = run.values
  const { cairn, geth, head, grown } = await run.once(openGethPair)
  const servers = { cairn, geth }
  const figures: GethProofFigures[] = []
  for (const blocksBehind of BEHIND.filter((behind) => behind < updateBlocks)) {
    process.stderr.write(`proofs ${blocksBehind} blocks behind\n`)
    const makeParams = paramsAt(formatQuantity(head - blocksBehind), { accounts, slots: grown * 1_000 })
    await compareAnswers(servers, makeParams)
    figures.push({
      blocksBehind,
      cairn: await measureServer(cairn, makeParams, seconds),
      geth: await measureServer(geth, makeParams, seconds),
    })
  }
  return figures
}

type Server = GethPair['cairn']

/** Parameters of the n-th request: an account without slots, or the vault with 10 of them. */
type MakeParams = (n: number) => [address: string, slots: string[], block: string]

/** Requests for a block. Accounts and slots are spread over all of them. */
function paramsAt(block: string, { accounts, slots }: { accounts: number; slots: number }): MakeParams {
  return (n) => {
    if (n % 2 === 0) return [formatData(accountAddress((n * 7_919) % (2 * accounts))), [], block]
    return [VAULT, Array.from({ length: SLOTS }, (_, i) => formatQuantity((n * SLOTS + i * 7_919) % slots)), block]
  }
}

/** @throws Error when the servers answer one of some requests differently. */
async function compareAnswers({ cairn, geth }: { cairn: Server; geth: Server }, makeParams: MakeParams): Promise<void> {
  for (let n = 0; n < COMPARED; n++) {
    const params = makeParams(n)
    const answers = await Promise.all([cairn, geth].map(({ url }) => resultOf(url, 'eth_getProof', params)))
    assert.deepEqual(answers[0], answers[1], JSON.stringify(params))
  }
}

/** Asks for `seconds` after some requests that do not count, each with other parameters. */
async function measureServer({ url, pid }: Server, makeParams: MakeParams, seconds: number): Promise<ServerFigures> {
  const clients = Array.from({ length: CONNECTIONS }, () => openClient(url))
  const times: number[] = []
  let n = 0
  const askUntil = (isOver: () => boolean) =>
    Promise.all(
      clients.map(async (client) => {
        while (!isOver()) {
          const { ms, body } = await client.send(makeCall('eth_getProof', makeParams(n++)))
          if (!body.includes('"result":{')) throw new Error(`eth_getProof: ${body.toString().slice(0, 300)}`)
          times.push(ms)
        }
      }),
    )
  await askUntil(() => n >= WARM_REQUESTS)
  times.length = 0
  const [startedMs, startedCpuMs] = [performance.now(), readCpuMs(pid)]
  await askUntil(() => performance.now() > startedMs + seconds * 1000)
  const tookMs = performance.now() - startedMs
  const cpuMs = (readCpuMs(pid) - startedCpuMs) / times.length
  for (const client of clients) client.close()
  return { perSecond: (times.length * 1000) / tookMs, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), cpuMs }
}

/** Prints the figures as a Markdown table. */
export function printGethProofs(figures: readonly GethProofFigures[]): void {
  const heads = ['/s', 'p50 ms', 'p99 ms', 'CPU ms']
  printTable(
    ['eth_getProof, blocks behind', ...heads, ...heads.map((head) => `geth: ${head}`), 'ratio'],
    figures.map(({ blocksBehind, cairn, geth }) => [
      String(blocksBehind),
      ...[cairn, geth].flatMap(({ perSecond, p50Ms, p99Ms, cpuMs }) => [
        perSecond.toFixed(0),
        ...[p50Ms, p99Ms, cpuMs].map((ms) => ms.toFixed(2)),
      ]),
      formatRatio(cairn.perSecond / geth.perSecond),
    ]),
  )
}
