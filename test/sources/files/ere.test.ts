import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { UsageError } from '../../../src/lib/errors.js'
import { recogniseE2storeFormat } from '../../../src/sources/files/e2store.js'
import { openEre, readEreChain } from '../../../src/sources/files/ere.js'
import { type RawBlock, SourceError } from '../../../src/sources/source.js'
import type { EraBlock } from '../../support/chains/era1File.js'
import { buildEre, exampleEreBlocks } from '../../support/chains/ereFile.js'
import { temporaryDirectory } from '../../support/temporary.js'

const folder = temporaryDirectory({ after })

function fileOf(bytes: Uint8Array, name = 'blocks.ere'): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const readAll = (path: string, from?: number) => [...(openEre(path).blocks({ from }) as Iterable<RawBlock>)]

/** The blocks as a file without total difficulties has them. */
const withoutTotals = (blocks: EraBlock[]): RawBlock[] =>
  blocks.map((each) => ({ ...each, totalDifficulty: undefined }))

/** The blocks with numbers from the beginning of an era on. */
function fromEra(blocks: EraBlock[]): EraBlock[] {
  const moved: EraBlock[] = []
  for (const [i, each] of blocks.entries()) {
    const parentHash = moved[i - 1]?.block.hash ?? each.block.header.parentHash
    const header = { ...each.block.header, parentHash, number: 8192 + i }
    moved.push({ ...each, block: { ...each.block, header, hash: hashHeader(header), sizeBytes: 0 } })
  }
  return moved
}

describe('ere source', () => {
  const work = exampleEreBlocks(5, 5)
  const staked = exampleEreBlocks(5, 0)
  const merge = exampleEreBlocks(5, 2)

  it('yields blocks, receipts and total difficulties in order', () => {
    const path = fileOf(buildEre(work))
    const source = openEre(path)
    assert.equal(source.totalBlocks, 5)
    assert.equal(source.kind, 'ere')
    assert.deepEqual(readAll(path), work)
    assert.deepEqual(readAll(fileOf(buildEre(staked))), withoutTotals(staked))
    assert.deepEqual(readAll(fileOf(buildEre(merge))), merge)
  })

  it('reads a gzip file alike, and one block', () => {
    assert.deepEqual(readAll(fileOf(gzipSync(buildEre(work)), 'blocks.ere.gz')), work)
    const one = fileOf(buildEre(work.slice(0, 1)))
    assert.deepEqual(readAll(one), work.slice(0, 1))
    const none = fileOf(buildEre(staked.slice(0, 1), { receipts: false }))
    assert.equal(recogniseE2storeFormat(none), 'ere')
  })

  it('passes over the blocks below the first that is wanted, and leaves out those above the last', () => {
    const path = fileOf(buildEre(work))
    assert.deepEqual(
      readAll(path, 102).map(({ block }) => block.header.number),
      [102, 103, 104],
    )
    assert.deepEqual(readAll(path, 105), [])
    const until = openEre(path, { until: 102 })
    assert.equal(until.totalBlocks, 3)
    assert.deepEqual([...(until.blocks() as Iterable<RawBlock>)], work.slice(0, 3))
  })

  it('recognises profiles without receipts, with proofs, and both', () => {
    const bare = readAll(fileOf(buildEre(staked, { receipts: false })))
    assert.deepEqual(
      bare,
      staked.map(({ block }) => ({ block, totalDifficulty: undefined })),
    )
    for (const proofs of [1, 2, 3] as const) {
      for (const receipts of [true, false]) {
        const path = fileOf(buildEre(staked, { receipts, proofs }))
        assert.deepEqual(readEreChain(path).proofs, { followed: 5, unknown: 0 })
        assert.equal(readAll(path)[1].receipts !== undefined, receipts)
      }
    }
    assert.deepEqual(readEreChain(fileOf(buildEre(staked, { proofs: 4 }))).proofs, { followed: 0, unknown: 5 })
  })

  it('follows proofs of blocks with work to the accumulator', () => {
    const blocks = fromEra(work)
    assert.deepEqual(readEreChain(fileOf(buildEre(blocks, { proofs: 0 }))).proofs, { followed: 5, unknown: 0 })
    // Leaves are by number modulo 8,192: those of other blocks lead to another root.
    assert.throws(() => readEreChain(fileOf(buildEre(work, { proofs: 0 }))), /proof of block 100: expected the root 0x/)
  })

  it('refuses an accumulator that is not that of the blocks before the merge', () => {
    assert.deepEqual(readAll(fileOf(buildEre(merge))), merge)
    const path = fileOf(buildEre(merge, { accumulator: new Uint8Array(32) }))
    assert.throws(() => readAll(path), /accumulator: expected 0x[0-9a-f]{64} of the blocks, the file has 0x0{64}/)
  })

  it('refuses blocks that do not follow on each other', () => {
    const [a, b, c] = staked
    assert.throws(() => readAll(fileOf(buildEre([a, c]))), /\(block 2 of the file\): expected block 101, got 102/)
    const unlinked = exampleEreBlocks(2, 0, 7)[1]
    assert.throws(() => readAll(fileOf(buildEre([a, unlinked, c]))), /block 101: expected parent hash 0x/)
    assert.ok(b)
  })

  it('finds a block by its hash', () => {
    const chain = readEreChain(fileOf(buildEre(merge)), merge[3].block.hash)
    assert.equal(chain.foundNumber, 103)
    assert.equal(chain.isStaked, true)
    assert.deepEqual(chain.lastHash, merge[4].block.hash)
    assert.deepEqual(chain.parentHash, merge[0].block.header.parentHash)
    assert.equal(readEreChain(fileOf(buildEre(merge)), new Uint8Array(32)).foundNumber, undefined)
  })

  it('names the block of a damaged entry of each kind', () => {
    const bytes = buildEre(fromEra(work), { proofs: 0 })
    const kinds = new Map<number, number>()
    for (let at = 8; at < bytes.length; ) {
      const type = bytes[at] | (bytes[at + 1] << 8)
      const length = Buffer.from(bytes.buffer, bytes.byteOffset + at + 2, 4).readUInt32LE()
      const seen = (kinds.get(type) ?? 0) + 1
      kinds.set(type, seen)
      const ordinal = seen - 1
      if (ordinal === 2 || type === 7 || type === 0x3267) {
        const middle = at + 8 + (length >> 1)
        const broken = fileOf(bytes.with(middle, bytes[middle] ^ 0xff))
        assert.throws(
          () => readAll(broken),
          (error) => {
            assert.ok(error instanceof SourceError, String(error))
            if (type !== 7 && type !== 6 && type !== 0x3267) assert.equal(error.ordinal, ordinal, error.message)
            return true
          },
          `type 0x${type.toString(16)}`,
        )
      }
      at += 8 + length
    }
    assert.deepEqual([...kinds.keys()], [3, 4, 10, 11, 6, 7, 0x3267])
  })

  it('refuses every flipped byte or yields the same blocks', () => {
    const original = fromEra(exampleEreBlocks(2, 2))
    const bytes = buildEre(original)
    const expected = readAll(fileOf(bytes))
    let refused = 0
    for (let at = 0; at < bytes.length; at++) {
      try {
        assert.deepEqual(readAll(fileOf(bytes.with(at, bytes[at] ^ 0x55))), expected, `byte ${at}`)
      } catch (error) {
        assert.ok(error instanceof SourceError, String(error))
        refused++
      }
    }
    assert.ok(refused > bytes.length * 0.95, `${refused} of ${bytes.length}`)
  })

  it('refuses a file that is cut off anywhere, or has more behind it', () => {
    const bytes = buildEre(exampleEreBlocks(2, 1))
    for (let length = 0; length < bytes.length; length += 7) {
      assert.throws(() => readAll(fileOf(bytes.subarray(0, length))), SourceError, `${length} bytes`)
    }
    assert.throws(() => readAll(fileOf(Uint8Array.from([...bytes, 0]))), SourceError)
  })

  it('refuses what is no file as wrong use', () => {
    assert.throws(() => openEre(join(folder, 'missing.ere')), UsageError)
  })
})

describe('recogniseE2storeFormat', () => {
  const entry = (type: number, ...value: number[]) => [type & 0xff, type >> 8, value.length, 0, 0, 0, 0, 0, ...value]
  const formatOf = (...entries: number[][]) =>
    recogniseE2storeFormat(fileOf(Uint8Array.from([entry(0x3265), ...entries].flat()), 'any'))

  it('distinguishes readable formats, and names the others', () => {
    assert.equal(formatOf(entry(3, 1), entry(4, 1), entry(5, 1), entry(6, 1)), 'era1')
    assert.equal(formatOf(entry(3, 1), entry(3, 1), entry(4, 1)), 'ere')
    assert.throws(() => formatOf(entry(1, 1), entry(2, 1)), /an era file of the consensus layer/)
    assert.throws(() => formatOf(entry(0x0103, 1), entry(4, 1), entry(5, 1)), /an e2hs file of the Portal Network/)
    assert.throws(() => formatOf(entry(3, 1), entry(8, 1), entry(9, 1)), /an e2ss file of the Portal Network/)
    assert.throws(() => formatOf(entry(0x77, 1)), /expected entries of a known e2store format .* got types 0x77/)
    assert.throws(() => formatOf(), /got types none/)
  })
})
