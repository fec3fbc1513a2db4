import assert from 'node:assert/strict'
import { bigIntToFixedBytes } from '../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { startDefaultCairn } from '../../test/support/cairn.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { SKIP_GETH, startFullGeth } from '../../test/support/upstream/geth.js'
import { encodeCall } from '../../tools/fixture/contracts.js'
import { makeCall } from '../lib/client.js'
import { formatRatio, printTable } from '../lib/table.js'
import { askInTurn, SERVER_HEADS, type Server, type ServerFigures, serverCells } from './askServer.js'
import type { BusyChainPlan } from './busyChain.js'
import { requireBusyChain } from './imports.js'
import type { EvmRun } from './options.js'
import { TRACES } from './traces.js'
import { AT, balanceSlot, HOLDERS, holderAt } from './world.js'

/** Requests of one kind to Cairn and to a full geth with the same blocks: of each the round with the median rate. */
export interface GethCallFigures {
  name: string
  connections: number
  cairn: ServerFigures
  geth: ServerFigures
}

interface Kind {
  readonly name: string
  readonly connections: number
  /** The n-th request. */
  ask(n: number): { method: string; params: unknown[] }
}

/** Asks both in turn for calls with state overrides and for traces of whole blocks; answers are compared first.
 *  @throws Error without geth, or when two answers differ */
export async function measureGethCalls(run: EvmRun, plan: BusyChainPlan): Promise<GethCallFigures[]> {
  if (SKIP_GETH !== false) throw new Error(SKIP_GETH)
  const { seconds, warm, 'call-rounds': rounds, 'accept-threads': acceptThreads } = run.values
  process.stderr.write('making full blocks\n')
  const { chain, datadir } = await requireBusyChain('contract calls', plan)
  const full = await startFullGeth(run, { genesis: chain.genesis! })
  await full.import(chain.path)
  const args = ['--open', '--compat', 'geth', '--datadir', datadir, '--accept-threads', String(acceptThreads)]
  const { url, running } = await startDefaultCairn(run, args)
  const servers: Server[] = [
    { url, pid: running.child.pid! },
    { url: full.url, pid: full.pid() },
  ]
  const figures: GethCallFigures[] = []
  for (const { name, connections, ask } of [overriddenCalls(), traces(plan.blocks)]) {
    process.stderr.write(`${name}\n`)
    for (let n = 0; n < plan.blocks; n++) {
      const { method, params } = ask(n)
      const [own, theirs] = await Promise.all(servers.map((server) => resultOf(server.url, method, params)))
      assert.deepEqual(own, theirs, `${name} ${n}`)
    }
    const inTurn = { rounds, warmMs: warm * 1000 }
    const [cairn, geth] = await askInTurn(servers, { connections, ask, seconds }, inTurn)
    figures.push({ name, connections, cairn, geth })
  }
  return figures
}

/** Balances of a token, each with another value in its slot, and ether for the holder. */
function overriddenCalls(): Kind {
  return {
    name: 'eth_call with state overrides',
    connections: 16,
    ask: (n) => {
      const holder = holderAt(n % HOLDERS)
      const slot = formatData(bigIntToFixedBytes(balanceSlot(holder), 32))
      const value = formatData(bigIntToFixedBytes(BigInt(n + 1), 32))
      const overrides = {
        [formatData(AT.token0)]: { stateDiff: { [slot]: value } },
        [formatData(holder)]: { balance: '0xde0b6b3a7640000' },
      }
      const call = {
        from: formatData(holder),
        to: formatData(AT.token0),
        data: formatData(encodeCall('balanceOf(address)', holder)),
      }
      return makeCall('eth_call', [call, 'latest', overrides])
    },
  }
}

function traces(blocks: number): Kind {
  const config = TRACES['prestateTracer of differences']
  return {
    name: 'prestateTracer with differences, of a block',
    connections: 1,
    ask: (n) => makeCall('debug_traceBlockByNumber', [formatQuantity(1 + (n % blocks)), config]),
  }
}

/** Prints the figures as a Markdown table. */
export function printGethCalls(figures: readonly GethCallFigures[]): void {
  printTable(
    ['requests', 'connections', ...SERVER_HEADS, ...SERVER_HEADS.map((head) => `geth: ${head}`), 'ratio'],
    figures.map(({ name, connections, cairn, geth }) => [
      ...[name, connections],
      ...[cairn, geth].flatMap(serverCells),
      formatRatio(cairn.perSecond / geth.perSecond),
    ]),
  )
}
