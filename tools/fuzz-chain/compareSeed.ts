import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCairn } from '../../test/support/cairn.js'
import { seededRandom } from '../../test/support/random.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { serveWithGeth } from '../../test/support/upstream/geth.js'
import { buildRandomChain } from './buildChain.js'
import { compareAnswers, type Finding } from './compare.js'
import { readFacts } from './facts.js'
import { requestsAbout } from './requests/all.js'
import type { Request } from './requests/random.js'
import type { LastFork } from './schedule.js'

/** Gas that a call, and a simulation, may use on both servers, in millions. */
const CALL_MGAS = 10

/** What was compared. */
export interface Compared {
  blocks: number
  transactions: number
  asked: number
}

/** Builds the chain of a seed, imports it into Cairn and geth, and reports each request that they answer differently,
 *  of the method `only` or of all. The servers end before it returns. */
export async function compareSeed(
  seed: number,
  { requests, last, only }: { requests: number; last?: LastFork; only?: string },
  report: (finding: Finding) => void,
): Promise<Compared> {
  const endings: (() => void | Promise<void>)[] = []
  const t = { after: (ending: () => void | Promise<void>) => void endings.unshift(ending) }
  const folder = mkdtempSync(join(tmpdir(), 'cairn-fuzz-chain-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  try {
    const chain = await buildRandomChain(seed, last)
    const [genesis, file] = ['genesis.json', 'chain.rlp'].map((name) => join(folder, name))
    writeFileSync(genesis, chain.genesis)
    writeFileSync(file, chain.chainRlp)
    const datadir = join(folder, 'geth')
    mkdirSync(datadir)
    const limits = [`--rpc.gascap=${CALL_MGAS}000000`, '--rpc.evmtimeout=60s']
    const geth = await serveWithGeth(t, { datadir, genesis, chain: file, args: limits })
    const cairnLimits = [
      ...['--compat', 'geth'],
      '--max-call-gas',
      `${CALL_MGAS}`,
      '--simulation-gas',
      `${CALL_MGAS}`,
      '--call-timeout',
      '60000',
      '--call-memory',
      '2048',
    ]
    const { url } = await startCairn(t, ['--fixture', folder, ...cairnLimits])
    const facts = await readFacts((method, params) => resultOf(url, method, params), chain)
    const count = { asked: 0 }
    const asked = counted(requestsAbout(facts, seededRandom(seed), requests), { count, only })
    for await (const finding of compareAnswers({ cairn: url, geth }, asked)) report(finding)
    return { blocks: chain.head, transactions: chain.transactions, ...count }
  } finally {
    for (const end of endings) await end()
  }
}

/** The requests, or only those of one method, counted. */
function* counted(
  requests: Iterable<Request>,
  { count, only }: { count: { asked: number }; only?: string },
): Generator<Request> {
  for (const item of requests) {
    if (only !== undefined && item.method !== only) continue
    count.asked++
    yield item
  }
}
