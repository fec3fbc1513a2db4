import { UsageError } from '../../lib/errors.js'
import type { RawBlock } from '../../sources/source.js'
import type { WritableChain } from '../chainState.js'

/** Total difficulty of every block under proof of stake, by network: that of the last block with work. Nodes no longer
 *  report it (geth since 1.14). */
const FINAL_TOTAL_DIFFICULTY: { readonly [network: string]: bigint } = {
  mainnet: 58_750_003_716_598_352_816_469n,
  sepolia: 17_000_018_015_853_232n,
  holesky: 1n,
  hoodi: 1n,
}

/** Returns the first block of a database with its total difficulty, which cannot be computed without its parent: under
 *  proof of stake that of the merge, otherwise what the upstream reports; with sparse state at least the terminal one.
 *  @throws UsageError when neither is known */
export async function withTotalDifficulty(
  { spec, sparse, genesisBlock }: WritableChain,
  raw: RawBlock,
): Promise<RawBlock> {
  const { number, difficulty } = raw.block.header
  if (number === 0) return { ...raw, totalDifficulty: difficulty }
  const genesisDifficulty = async () => (await genesisBlock()).header.difficulty
  if (difficulty === 0n) {
    const known = spec.terminalTotalDifficulty === undefined ? FINAL_TOTAL_DIFFICULTY[spec.name] : undefined
    if (known !== undefined) return { ...raw, totalDifficulty: known }
    const first = spec.terminalTotalDifficulty === undefined ? undefined : await genesisDifficulty()
    if (first !== undefined && first >= spec.terminalTotalDifficulty!) return { ...raw, totalDifficulty: first }
  }
  if (raw.totalDifficulty !== undefined) return raw
  // After the merge nothing depends on more than that it was reached.
  if (sparse && difficulty === 0n) return { ...raw, totalDifficulty: spec.terminalTotalDifficulty ?? 0n }
  throw new UsageError(
    `block ${number} cannot be the first one: its total difficulty is not known; begin with block 0, with an era1 file, or ` +
      'with an upstream whose blocks have totalDifficulty',
  )
}
