import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { UsageError } from '../../../src/lib/errors.js'
import { openChainRlp, recogniseChainRlp } from '../../../src/sources/files/chainRlp.js'
import { readHead } from '../../../src/sources/files/fileBytes.js'
import { SourceError, type SourceRange } from '../../../src/sources/source.js'
import { exampleEraBlocks } from '../../support/chains/era1File.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { temporaryDirectory } from '../../support/temporary.js'

const folder = temporaryDirectory({ after })

const blocks = exampleEraBlocks(6).map(({ block }) => block)
const encoded = Buffer.concat(blocks.map(encodeBlock))
/** Where block `ordinal` begins in `encoded`. */
const offsetOf = (ordinal: number) => blocks.slice(0, ordinal).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

function fileOf(bytes: Uint8Array, name = 'chain.rlp'): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

async function readAll(path: string, range?: SourceRange): Promise<Block[]> {
  const read: Block[] = []
  for await (const { block } of openChainRlp(path).blocks(range)) read.push(block)
  return read
}

async function refusal(bytes: Uint8Array, name?: string): Promise<SourceError> {
  const error = await readAll(fileOf(bytes, name)).then(
    () => assert.fail('the file was accepted'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof SourceError, String(error))
  return error
}

describe('chain RLP source', () => {
  it('says how many bytes of the file its blocks took, packed as they are', async () => {
    const plain = openChainRlp(fileOf(encoded))
    const taken: number[] = []
    for await (const _ of plain.blocks()) taken.push(plain.bytesRead!())
    assert.deepEqual(
      taken.map(Math.round),
      blocks.map((_, i) => offsetOf(i + 1)),
    )
    const packed = gzipSync(encoded)
    const source = openChainRlp(fileOf(packed, 'chain.rlp.gz'))
    let last = 0
    for await (const _ of source.blocks()) {
      assert.ok(source.bytesRead!() > last)
      last = source.bytesRead!()
    }
    assert.equal(Math.round(last), packed.length)
  })

  it('gives the blocks of a plain and of a gzip file', async () => {
    assert.deepEqual(await readAll(fileOf(encoded)), blocks)
    assert.deepEqual(await readAll(fileOf(gzipSync(encoded), 'chain.rlp.gz')), blocks)
  })

  it('returns blocks that span the chunks in which the file is read', async () => {
    const many = Buffer.concat(Array.from({ length: 1500 }, () => encoded))
    assert.ok(many.length > 3 * 1024 * 1024)
    const read = await readAll(fileOf(many))
    assert.equal(read.length, 9000)
    assert.ok(read.every(({ hash }, i) => equalBytes(hash, blocks[i % 6].hash)))
  })

  it('passes over blocks below the first that is wanted without reading their bodies', async () => {
    const broken = Uint8Array.from(encoded)
    broken[offsetOf(3) - 1] ^= 0x80 // inside the body of block 102
    assert.deepEqual(await readAll(fileOf(broken), { from: 103 }), blocks.slice(3))
    assert.deepEqual(await readAll(fileOf(encoded), { from: 200 }), [])
  })

  it('says at which byte a block begins that cannot be read, and its cause', async () => {
    const wrong = encodeRlp([[], [], []])
    const error = await refusal(Buffer.concat([encoded, wrong]))
    assert.equal(error.offset, encoded.length)
    assert.equal(error.ordinal, 6)
    assert.match(
      error.message,
      /chain\.rlp: at byte \d+ \(block 7 of the file\): header: expected 15 to 23 items, got 0/,
    )
    assert.equal((error.cause as Error).name, 'DecodeError')
  })

  it('refuses a file that is cut off inside any block', async () => {
    for (let length = 0; length < encoded.length; length += 211) {
      const ordinal = blocks.findIndex((_, i) => offsetOf(i + 1) > length)
      if (length > 0 && offsetOf(ordinal) === length) continue
      const error = await refusal(encoded.subarray(0, length))
      assert.equal(error.offset, offsetOf(ordinal), `${length} bytes`)
    }
  })

  it('refuses bytes behind the last block', async () => {
    const error = await refusal(Buffer.concat([encoded, Buffer.from('garbage')]))
    assert.equal(error.offset, encoded.length)
    assert.match(error.message, /expected an RLP list, got byte 0x67/)
    assert.match(
      (await refusal(Buffer.concat([encoded, Uint8Array.of(0xfb, 1)]))).message,
      /the file ends after 2 of it/,
    )
  })

  it('does not gather a length that no block has', async () => {
    const error = await refusal(Buffer.concat([encoded, Uint8Array.of(0xfd, 0x7f, 0, 0, 0, 0, 0)]))
    assert.match(error.message, /expected at most \d+ bytes, got/)
  })

  it('refuses a gzip file that is cut off or corrupt', async () => {
    const packed = gzipSync(encoded)
    assert.match((await refusal(packed.subarray(0, packed.length - 20))).message, /unexpected end of file/)
    const flipped = Uint8Array.from(packed)
    flipped[packed.length - 6] ^= 1 // in the checksum
    assert.match((await refusal(flipped)).message, /incorrect data check/)
  })

  it('refuses an empty file, and what is no file as wrong use', async () => {
    assert.match((await refusal(new Uint8Array(0))).message, /empty file/)
    await assert.rejects(readAll(join(folder, 'missing.rlp')), UsageError)
    await assert.rejects(readAll(folder), UsageError)
  })

  it('closes the file when the reader stops early', async () => {
    for await (const { block } of openChainRlp(fileOf(encoded)).blocks()) {
      assert.equal(block.header.number, 100)
      break
    }
  })
})

describe('recogniseChainRlp', () => {
  it('knows blocks by their first bytes, in gzip too, and nothing else', () => {
    assert.equal(recogniseChainRlp(readHead(fileOf(encoded))), true)
    assert.equal(recogniseChainRlp(readHead(fileOf(gzipSync(encoded), 'chain.gz'))), true)
    assert.equal(recogniseChainRlp(new TextEncoder().encode('{"block": {}}')), false)
    assert.equal(recogniseChainRlp(encodeRlp([[1, 2, 3], []])), false)
    assert.equal(recogniseChainRlp(encodeRlp([new Uint8Array(600)])), false)
    assert.equal(recogniseChainRlp(new Uint8Array(0)), false)
  })
})

const conformance = sharedPath('conformance', 'execution-apis', 'chain.rlp')
it('gives the 54 blocks of the conformance chain, linked, and writes them back to the same bytes', {
  skip: SKIP_SHARED,
}, async () => {
  const read = await readAll(conformance!)
  assert.equal(read.length, 54)
  for (const [i, block] of read.entries()) {
    assert.equal(block.header.number, i + 1)
    if (i > 0) assert.deepEqual(block.header.parentHash, read[i - 1].hash)
    assert.equal(encodeBlock(block).length, block.sizeBytes)
  }
  const types = new Set(read.flatMap(({ transactions }) => transactions.map(({ type }) => type)))
  assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4])
  const again = await readAll(fileOf(Buffer.concat(read.map(encodeBlock))))
  assert.deepEqual(again, read)
})
