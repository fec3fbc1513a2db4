import type { MergedFork } from '../../tools/fixture/mergedGenesis.js'
import { BUSY_KINDS, type BusyChainPlan, makeBusyChain } from './busyChain.js'
import { requireFigures, runOnce } from './imports.js'
import type { ImportOutcome, ImportPlan, ImportResult } from './plans.js'

/** Share of Osaka's speed that Amsterdam is to reach, access lists included. */
export const FORK_GOAL = 0.75

/** Names of the rows, in the order in which they are measured. */
export const FORK_NAMES: readonly string[] = BUSY_KINDS.map((kind) => `Amsterdam ${kind}`)

/** Imports of the same transactions under the rules of two forks. */
export interface ForkFigures {
  name: string
  blocks: number
  osakaBlocksPerSecond: number
  /** Without and with `--block-access-lists on`. */
  amsterdamBlocksPerSecond: number
  storedBlocksPerSecond: number
  /** RLP of the lists, and what the database is larger by. */
  listBytesPerBlock: number
  storedBytesPerBlock: number
  /** Size of the database without lists. */
  databaseBytesPerBlock: number
}

type Variant = Pick<ImportPlan, 'chain' | 'blockAccessLists'>

/** Imports each chain as Osaka blocks, as Amsterdam blocks, and as Amsterdam blocks whose access lists are stored, in
 *  turn; the median of the rounds counts. */
export async function measureForks(
  names: readonly string[],
  { seconds, rounds, ...chainPlan }: BusyChainPlan & { seconds: number; rounds: number },
): Promise<ForkFigures[]> {
  const figures: ForkFigures[] = []
  for (const name of names) {
    const kind = BUSY_KINDS[FORK_NAMES.indexOf(name)]
    const make = (fork: MergedFork) => makeBusyChain(kind, { ...chainPlan, fork })
    const [osaka, amsterdam] = [(await make('osaka')).chain, (await make('amsterdam')).chain]
    const variants: Variant[] = [{ chain: osaka }, { chain: amsterdam }, { chain: amsterdam, blockAccessLists: true }]
    const results: ImportResult[][] = variants.map(() => [])
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`\rforks: ${name}, round ${round} of ${rounds}\x1b[K`)
      for (const [index, variant] of variants.entries()) {
        const plan: ImportPlan = {
          engine: 'cairn',
          directory: chainPlan.directory,
          seconds,
          warmSeconds: seconds,
          ...variant,
        }
        results[index].push(requireFigures(await runOnce<ImportOutcome>('evmImports', plan), name))
      }
    }
    process.stderr.write('\n')
    const [rateOfOsaka, rateOfAmsterdam, rateOfStored] = results.map((each) =>
      median(each.map(({ blocksPerSecond }) => blocksPerSecond)),
    )
    const [plain, stored] = [results[1][0], results[2][0]]
    const databaseBytesPerBlock = plain.databaseBytes / plain.blocks
    figures.push({
      name,
      blocks: plain.blocks,
      osakaBlocksPerSecond: rateOfOsaka,
      amsterdamBlocksPerSecond: rateOfAmsterdam,
      storedBlocksPerSecond: rateOfStored,
      listBytesPerBlock: stored.accessListBytes / stored.blocks,
      storedBytesPerBlock: stored.databaseBytes / stored.blocks - databaseBytesPerBlock,
      databaseBytesPerBlock,
    })
  }
  return figures
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
