import { join } from 'node:path'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { type BenchBlock, makeBlocks } from '../../test/support/chains/logBlocks.js'
import type { LogChain } from '../../test/support/chains/logChain.js'
import { type BenchClient, countResults, quantile, TOO_MANY, toFilter } from '../lib/client.js'
import { readMemory } from '../lib/memory.js'
import { type CairnUnderTest, serveCairn } from '../lib/serve.js'
import { type Anvil, startAnvil } from './anvil.js'
import { askOverHttp, type HashOf } from './measure.js'
import { readShapeParameters, type ShapeParameters } from './parameters.js'
import { makeShapes, type Shape } from './shapes.js'

/** A shape asked of anvil and of Cairn, both holding the same logs and no others. */
export interface AnvilShape {
  name: string
  results: number
  p50Ms: number
  cairnP50Ms: number
  /** How many times as long anvil takes. */
  ratio: number
}

/** Anvil beside a Cairn of its own. */
export interface AnvilComparison {
  version: string
  logs: number
  blocks: number
  logsPerSecond: number
  rssMb: number | null
  shapes: AnvilShape[]
  /** Shapes that cannot be compared, and why. */
  leftOut: { [shape: string]: string }
}

const BUDGET_MS = 2_500

/** Has anvil execute the first blocks of the chain, at least `logs` logs, puts the same into a database of ours in
 *  `directory`, and asks both for every shape over HTTP. */
export async function compareAnvil(
  chain: LogChain,
  { seed, logs, directory, runs }: { seed: number; logs: number; directory: string; runs: number },
): Promise<AnvilComparison> {
  const blocks = () => firstBlocks(chain, { seed, logs })
  const stored = await storeBlocks(chain, { blocks: blocks(), datadir: join(directory, 'cairn-as-anvil') })
  const anvil = await startAnvil(blocks, directory)
  let cairn: CairnUnderTest | undefined
  try {
    cairn = await serveCairn(join(directory, 'cairn-as-anvil'))
    const shapes: AnvilShape[] = []
    const leftOut: { [shape: string]: string } = {}
    for (const shape of makeShapes({ chain, seed, ...stored.parameters })) {
      const compared = await compareShape(shape, { anvil, cairn: cairn.client, hashOf: cairn.hashOf, runs })
      if (typeof compared === 'string') leftOut[shape.name] = compared
      else shapes.push(compared)
      process.stderr.write(`\ranvil: ${shape.name}\x1b[K`)
    }
    process.stderr.write('\n')
    return {
      version: anvil.version,
      logs: stored.logs,
      blocks: stored.parameters.head + 1,
      logsPerSecond: (stored.logs / anvil.replayMs) * 1_000,
      rssMb: readMemory(anvil.pid)?.rssMb ?? null,
      shapes,
      leftOut,
    }
  } finally {
    await cairn?.stop()
    await anvil.stop()
  }
}

function* firstBlocks(chain: LogChain, { seed, logs }: { seed: number; logs: number }): Generator<BenchBlock> {
  let made = 0
  for (const block of makeBlocks(chain, seed)) {
    yield block
    made += block.logs.length
    if (made >= logs) return
  }
}

async function storeBlocks(
  chain: LogChain,
  { blocks, datadir }: { blocks: Iterable<BenchBlock>; datadir: string },
): Promise<{ logs: number; parameters: ShapeParameters }> {
  const db = openForWriting(datadir)
  const { head } = await openWritableChain(db, { network: 'mainnet' }, 'none')
  let count = 0
  for (const { block, receipts, logs } of blocks) {
    head.append(block, { receipts, totalDifficulty: 0n })
    count += logs.length
  }
  head.workOnIndexes(Number.POSITIVE_INFINITY)
  const parameters = readShapeParameters(db, chain)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return { logs: count, parameters }
}

/** @returns why the shape cannot be compared, when it cannot. */
async function compareShape(
  shape: Shape,
  { anvil, cairn, hashOf, runs }: { anvil: Anvil; cairn: BenchClient; hashOf: HashOf; runs: number },
): Promise<AnvilShape | string> {
  const ours = await askOverHttp(shape, { client: cairn, hashOf, runs, budgetMs: BUDGET_MS })
  if (ours.results === TOO_MANY) return 'more than 10,000 results, which anvil does not refuse'
  // Their block 0 is the genesis, so that every block is one later.
  const shifted: Shape = {
    ...shape,
    question: (n) => {
      const question = shape.question(n)
      return { ...question, fromBlock: question.fromBlock + 1, toBlock: question.toBlock + 1 }
    },
  }
  const theirHash: HashOf = (number) => anvil.hashOf(number - 1)
  const first = shifted.question(0)
  const hash = shape.byHash && (await theirHash(first.fromBlock))
  let found: number
  try {
    found = countResults((await anvil.client.getLogs(toFilter(first, hash))).body)
  } catch (error) {
    return (error as Error).message
  }
  if (found !== ours.results) return `anvil finds ${found} logs, Cairn ${ours.results}`
  const theirs = await askOverHttp(shifted, {
    client: anvil.client,
    hashOf: theirHash,
    runs,
    budgetMs: BUDGET_MS,
  })
  const [p50Ms, cairnP50Ms] = [quantile(theirs.times, 0.5), quantile(ours.times, 0.5)]
  return { name: shape.name, results: found, p50Ms, cairnP50Ms, ratio: p50Ms / cairnP50Ms }
}
