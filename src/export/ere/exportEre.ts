import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_FILE_BLOCKS } from '../../chain/eth/history/entryTypes.js'
import type { BlockRange } from '../../chain/eth/types.js'
import { replaceFile, syncPath } from '../../lib/durableFiles.js'
import type { ExportControl } from '../exportBlocks.js'
import type { ExportSource } from '../source.js'
import { writeEre } from './writeEre.js'

/** Totals of an export of ere files. */
export interface EreTotals {
  files: number
  blocks: number
  bytes: number
}

const NETWORKS: { readonly [chainId: string]: string } = {
  1: 'mainnet',
  11155111: 'sepolia',
  17000: 'holesky',
  560048: 'hoodi',
}

const CHECKSUMS = 'checksums.txt'

/** Writes blocks [from, to] to ere files of a directory, each of the blocks between two multiples of 8,192, and then
 *  checksums.txt: the SHA-256 of each ere file of the directory, one a line, in the order of their names. A file gets
 *  its name when it is complete; one of the same name is replaced.
 *  @throws ChainChanged if a reorg reaches the range; the reason of the signal */
export async function exportEre(
  source: ExportSource,
  directory: string,
  { range, control }: { range: BlockRange; control: ExportControl },
): Promise<EreTotals> {
  mkdirSync(directory, { recursive: true })
  const network = NETWORKS[String(source.chain.chainId())] ?? 'unknown'
  const totals: EreTotals = { files: 0, blocks: 0, bytes: 0 }
  const known = new Map<string, string>()
  for (const part of splitRange(range)) {
    const era = Math.floor(part.from / MAX_FILE_BLOCKS)
    const prefix = `${network}-${String(era).padStart(5, '0')}`
    const temporary = join(directory, `${prefix}.tmp`)
    try {
      const { lastHash, bytes, sha256 } = await writeEre(source, temporary, { range: part, control })
      const name = `${prefix}-${Buffer.from(lastHash.subarray(0, 4)).toString('hex')}-noproofs.ere`
      syncPath(temporary)
      renameSync(temporary, join(directory, name))
      known.set(name, sha256)
      totals.bytes += bytes
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    totals.files++
    totals.blocks += part.to - part.from + 1
  }
  await writeChecksums(directory, known)
  return totals
}

/** Splits a range at multiples of 8,192. */
function splitRange({ from, to }: BlockRange): BlockRange[] {
  const parts: BlockRange[] = []
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start - (start % MAX_FILE_BLOCKS) + MAX_FILE_BLOCKS - 1)
    parts.push({ from: start, to: end })
    start = end + 1
  }
  return parts
}

async function writeChecksums(directory: string, known: ReadonlyMap<string, string>): Promise<void> {
  const names = readdirSync(directory).filter((name) => name.endsWith('.ere'))
  const lines: string[] = []
  for (const name of names.sort()) lines.push(`0x${known.get(name) ?? (await digest(join(directory, name)))}`)
  replaceFile(join(directory, CHECKSUMS), lines.join('\n'))
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
