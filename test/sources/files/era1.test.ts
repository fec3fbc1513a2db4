import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { builtInSpec, type Network } from '../../../src/chain/eth/genesis.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { verifyReceipts } from '../../../src/chain/eth/verifyRoots.js'
import { UsageError } from '../../../src/lib/errors.js'
import { recogniseE2store } from '../../../src/sources/files/e2store.js'
import { openEra1 } from '../../../src/sources/files/era1.js'
import type { RawBlock } from '../../../src/sources/source.js'
import { SourceError } from '../../../src/sources/source.js'
import { verifyBody } from '../../../src/sync/validate/body.js'
import { verifyHeader, verifyUncles } from '../../../src/sync/validate/header.js'
import { buildEra1, exampleEraBlocks } from '../../support/chains/era1File.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { temporaryDirectory } from '../../support/temporary.js'

const folder = temporaryDirectory({ after })

function fileOf(bytes: Uint8Array, name = 'blocks.era1'): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const readAll = (path: string, from?: number) => [...(openEra1(path).blocks({ from }) as Iterable<RawBlock>)]

describe('era1 source', () => {
  const blocks = exampleEraBlocks(5)

  it('gives blocks, receipts and total difficulties in order', () => {
    const path = fileOf(buildEra1(blocks))
    const source = openEra1(path)
    assert.equal(source.totalBlocks, 5)
    assert.equal(source.kind, 'era1')
    const read = readAll(path)
    assert.deepEqual(read, blocks)
    assert.deepEqual(readAll(path), read)
  })

  it('reads a gzip file alike', () => {
    assert.deepEqual(readAll(fileOf(gzipSync(buildEra1(blocks)), 'blocks.era1.gz')), blocks)
  })

  it('passes over the blocks below the first that is wanted', () => {
    const path = fileOf(buildEra1(blocks))
    assert.deepEqual(
      readAll(path, 102).map(({ block }) => block.header.number),
      [102, 103, 104],
    )
    assert.deepEqual(readAll(path, 105), [])
  })

  it('passes over entries of other types before the accumulator', () => {
    assert.deepEqual(readAll(fileOf(buildEra1(blocks, { extraEntry: true }))), blocks)
  })

  it('refuses an accumulator that is not that of the blocks, before the first block comes out', () => {
    const path = fileOf(buildEra1(blocks, { accumulator: new Uint8Array(32) }))
    const iterator = (openEra1(path).blocks() as Iterable<RawBlock>)[Symbol.iterator]()
    assert.throws(() => iterator.next(), /accumulator: expected 0x[0-9a-f]{64} of the blocks, the file has 0x0{64}/)
  })

  it('refuses a total difficulty that was changed, by the accumulator', () => {
    const changed = blocks.map((raw, i) => (i === 3 ? { ...raw, totalDifficulty: raw.totalDifficulty + 1n } : raw))
    const bytes = buildEra1(blocks)
    const other = buildEra1(changed)
    const from = bytes.findIndex((byte, at) => byte !== other[at])
    assert.throws(() => readAll(fileOf(bytes.with(from, other[from]))), /accumulator: expected/)
  })

  it('refuses blocks that do not follow on each other', () => {
    const [a, b, c] = blocks
    assert.throws(() => readAll(fileOf(buildEra1([a, c]))), /\(block 2 of the file\): expected block 101, got 102/)
    const unlinked = exampleEraBlocks(2, 7)[1]
    assert.throws(() => readAll(fileOf(buildEra1([a, unlinked, c]))), /block 101: expected parent hash 0x/)
    assert.ok(b)
  })

  it('names the block whose body or receipts are corrupt', () => {
    const bytes = buildEra1(blocks)
    let bodies = 0
    for (let at = 8; at < bytes.length; ) {
      const type = bytes[at]
      const length = Buffer.from(bytes.buffer, bytes.byteOffset + at + 2, 4).readUInt32LE()
      if ((type === 4 || type === 5) && bodies++ === 2) {
        const broken = bytes.with(at + 8 + 18, bytes[at + 8 + 18] ^ 0xff)
        assert.throws(
          () => readAll(fileOf(broken)),
          (error) => {
            assert.ok(error instanceof SourceError)
            assert.equal(error.offset, at)
            assert.equal(error.ordinal, 1)
            assert.match(error.message, /blocks\.era1: at byte \d+ \(block 2 of the file\): .*snappy/)
            return true
          },
        )
        return
      }
      at += 8 + length
    }
    assert.fail('no second body')
  })

  it('refuses a file that is cut off anywhere, or has more behind it', () => {
    const bytes = buildEra1(exampleEraBlocks(2))
    for (let length = 0; length < bytes.length; length += 7) {
      assert.throws(() => readAll(fileOf(bytes.subarray(0, length))), SourceError, `${length} bytes`)
    }
    assert.throws(() => readAll(fileOf(Uint8Array.from([...bytes, 0]))), SourceError)
  })

  it('refuses every flipped byte or gives the same blocks', () => {
    const original = exampleEraBlocks(2)
    const bytes = buildEra1(original)
    let refused = 0
    for (let at = 0; at < bytes.length; at++) {
      try {
        assert.deepEqual(readAll(fileOf(bytes.with(at, bytes[at] ^ 0x55))), original, `byte ${at}`)
      } catch (error) {
        assert.ok(error instanceof SourceError, String(error))
        refused++
      }
    }
    assert.ok(refused > bytes.length * 0.95, `${refused} of ${bytes.length}`)
  })

  it('refuses what is no file as wrong use', () => {
    assert.throws(() => openEra1(join(folder, 'missing.era1')), UsageError)
    assert.throws(() => openEra1(folder), /it is a directory; expected a regular file/)
  })

  it('is known by its first bytes', () => {
    assert.equal(recogniseE2store(buildEra1(blocks).subarray(0, 100)), true)
    assert.equal(recogniseE2store(Uint8Array.of(0x65, 0x32)), false)
    assert.equal(recogniseE2store(new Uint8Array(100)), false)
  })
})

const REAL: [Network, string, { transactions: number; uncles: number }][] = [
  ['mainnet', 'mainnet-00000-5ec1ffb8.era1', { transactions: 0, uncles: 1410 }],
  ['sepolia', 'sepolia-00000-643a00f7.era1', { transactions: 0, uncles: 0 }],
]

for (const [network, name, expected] of REAL) {
  const path = sharedPath('chains', name)
  it(`gives the first 8,192 blocks of ${network}, which pass every check that needs no execution`, {
    skip: SKIP_SHARED,
  }, () => {
    const spec = builtInSpec(network)
    const chain: RawBlock[] = []
    const counts = { transactions: 0, uncles: 0 }
    for (const raw of openEra1(path!).blocks() as Iterable<RawBlock>) {
      const { block, receipts, totalDifficulty } = raw
      const { number, timestamp } = block.header
      assert.equal(number, chain.length)
      if (number > 0) {
        const parent = chain[number - 1]
        const rules = rulesAt(spec, number, timestamp, parent.totalDifficulty)
        verifyHeader(block.header, block.hash, parent.block, rules, spec)
        verifyBody(block, rules, spec)
        const ancestors = {
          header: (at: number) => chain[at]?.block,
          uncleHashes: (at: number) => chain[at].block.uncles.map(hashHeader),
        }
        verifyUncles(block, ancestors, (uncle) => rulesAt(spec, uncle.number, uncle.timestamp), spec)
        verifyReceipts(block.header, receipts!, { blockHash: block.hash })
        assert.equal(totalDifficulty, parent.totalDifficulty! + block.header.difficulty)
      }
      counts.transactions += block.transactions.length
      counts.uncles += block.uncles.length
      chain.push(raw)
    }
    assert.equal(chain.length, 8192)
    assert.deepEqual(counts, expected)
  })
}

describe('formats that begin as era1', () => {
  const entry = (type: number, ...value: number[]) => [type & 0xff, type >> 8, value.length, 0, 0, 0, 0, 0, ...value]
  const refused = (bytes: number[], problem: RegExp) => {
    const path = join(folder, 'other.era')
    writeFileSync(path, Buffer.from([...bytes, ...Array(40).fill(0)]))
    assert.throws(
      () => openEra1(path),
      (error: Error) => {
        assert.ok(error instanceof SourceError)
        assert.match(error.message, problem)
        return true
      },
    )
  }
  const version = entry(0x3265)

  it('names era and ere files', () => {
    refused([...version, ...entry(0x01, 1), ...entry(0x02, 1)], /an era file of the consensus layer, not era1/)
    const headers = [...entry(0x03, 1), ...entry(0x03, 1)]
    refused([...version, ...headers, ...entry(0x04, 1)], /an ere file \(with slim receipts\), not era1/)
    refused([...version, ...entry(0x03, 1), ...entry(0x04, 1), ...entry(0x0a, 1)], /an ere file/)
  })
})
