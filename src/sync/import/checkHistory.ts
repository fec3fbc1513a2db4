import { equalBytes } from '../../lib/bytes.js'
import { CairnError, UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import { type EreChain, readEreChain } from '../../sources/files/ere.js'

/** A trusted block that the files have. */
export interface Checkpoint {
  readonly number: number
  readonly hash: Uint8Array // 32
}

/** Checks that the blocks of ere files lead to the checkpoint by parent hashes, before any of them is imported. Returns
 *  it; undefined without one. Warns where nothing but the links between blocks is known.
 *  @throws UsageError when no file has the checkpoint, CairnError when two files do not link, SourceError as
 *  `readEreChain` */
export function checkHistory(
  paths: readonly string[],
  { checkpoint, log }: { checkpoint?: Uint8Array; log: Logger },
): Checkpoint | undefined {
  if (checkpoint !== undefined) return requireCheckpoint(paths, checkpoint, log)
  const last = paths.at(-1)
  const chain = last === undefined ? undefined : readEreChain(last)
  if (chain?.isStaked) {
    log.warn(
      { from: chain.path, proofs: chain.proofs.followed },
      'of blocks under proof of stake in ere files, only the links from block to block are known; --checkpoint HASH names a trusted one',
    )
  }
  return undefined
}

function requireCheckpoint(paths: readonly string[], hash: Uint8Array, log: Logger): Checkpoint {
  const chains = paths.map((path) => readEreChain(path, hash)).sort((a, b) => a.firstNumber - b.firstNumber)
  const at = chains.findIndex(({ foundNumber }) => foundNumber !== undefined)
  if (at < 0) {
    throw new UsageError(
      `--checkpoint ${formatData(hash)}: no block of the ${paths.length} ere files has this hash; name the file with it, too`,
    )
  }
  for (let i = at; i > 0; i--) requireLink(chains[i - 1], chains[i])
  const number = chains[at].foundNumber!
  log.info({ checkpoint: number, from: chains[0].firstNumber }, 'the blocks of the ere files lead to the checkpoint')
  const newest = chains.at(-1)!.lastNumber
  if (newest > number) {
    log.warn({ checkpoint: number, last: newest }, 'blocks after the checkpoint are not imported')
  }
  return { number, hash }
}

function requireLink(before: EreChain, chain: EreChain): void {
  const { path, firstNumber, parentHash } = chain
  if (before.lastNumber === firstNumber - 1 && equalBytes(before.lastHash, parentHash)) return
  throw new CairnError(
    `${path} begins with block ${firstNumber} on ${formatData(parentHash)}, but ${before.path} ends with block ` +
      `${before.lastNumber}, ${formatData(before.lastHash)}: blocks between them are missing, or of another chain`,
  )
}
