import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { measureRlp } from '../../../src/chain/eth/rlp.js'
import { packagePath } from '../../../src/store/open.js'
import { temporaryDirectory } from '../temporary.js'

/** Where the blocks of a chain file lie in it, in their order. */
export function blockSpans(chain: Uint8Array): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = []
  for (let start = 0; start < chain.length; ) {
    const { end } = measureRlp(chain, start)!
    spans.push({ start, end })
    start = end
  }
  return spans
}

/** The bundled fixture chain as one file per block, so that an import commits every block by itself.
 *  @returns their paths, in order */
export function writeBlockFiles(t: { after(callback: () => void): void }): string[] {
  const directory = temporaryDirectory(t)
  const chain = readFileSync(packagePath('fixtures/chain/chain.rlp'))
  return blockSpans(chain).map(({ start, end }, i) => {
    const path = join(directory, `${i + 1}.rlp`)
    writeFileSync(path, chain.subarray(start, end))
    return path
  })
}

/** A file of 65 kB that takes an import most of a minute and adds at most one block: block 1 of the fixture chain, a
 *  million times. */
export function writeLongFile(t: { after(callback: () => void): void }): string {
  const path = join(temporaryDirectory(t), 'long.rlp.gz')
  const chain = readFileSync(packagePath('fixtures/chain/chain.rlp'))
  const { start, end } = blockSpans(chain)[0]
  const thousand = gzipSync(Buffer.concat(new Array(1000).fill(chain.subarray(start, end))))
  writeFileSync(path, Buffer.concat(new Array(1000).fill(thousand)))
  return path
}
