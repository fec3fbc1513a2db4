import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { transactionsRoot } from '../../../../../src/chain/eth/block.js'
import { familyOf } from '../../../../../src/chain/eth/families/families.js'
import { fastLzLength } from '../../../../../src/chain/eth/families/op/fastLz.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { builtInSpec } from '../../../../../src/chain/eth/genesis.js'
import { decodeTransaction, encodeTransaction } from '../../../../../src/chain/eth/transaction.js'
import { formatData, parseHex } from '../../../../../src/lib/hex.js'
import { decodeHeaderJson } from '../../../../../src/sources/ethRpc/blockJson.js'
import { packagePath } from '../../../../../src/store/open.js'
import { verifyHeader } from '../../../../../src/sync/validate/header.js'
import { seededRandom } from '../../../../support/random.js'

/* Blocks and transactions of public chains. */

interface RecordedChain {
  readonly parent: object
  readonly blocks: readonly {
    readonly hash: string
    readonly header: { readonly parentHash: string }
    readonly transactions: string[]
  }[]
}

const OP_SEPOLIA = JSON.parse(
  readFileSync(packagePath('test/support/chains/op/opSepolia.json'), 'utf8'),
) as RecordedChain

/** The header before the blocks. */
function readParent() {
  const [{ header }] = OP_SEPOLIA.blocks
  return decodeHeaderJson({ ...OP_SEPOLIA.parent, hash: header.parentHash })
}

test('blocks of OP Sepolia in Holocene have their hashes, transaction roots and base fees', () => {
  const spec = builtInSpec('op-sepolia')
  let parent = readParent()
  for (const { hash, header, transactions } of OP_SEPOLIA.blocks) {
    const block = decodeHeaderJson({ ...header, hash }, spec)
    const decoded = transactions.map((bytes) => decodeTransaction(parseHex(bytes)))
    assert.deepEqual(
      decoded.map((each) => formatData(encodeTransaction(each))),
      transactions,
    )
    assert.deepEqual(transactionsRoot(decoded), block.header.transactionsRoot)
    const rules = rulesAt(spec, block.header.number, block.header.timestamp, 0n)
    verifyHeader(block.header, block.hash, parent, rules, spec)
    assert.equal(decoded[0].type, 0x7e)
    parent = block
  }
})

test('fees of layer 1 are those of a transaction in Base block 21713817, in Fjord', () => {
  const spec = builtInSpec('base')
  const attributes =
    '0x440a5e20000008dd00101c120000000000000004000000006721035b00000000014189960000000000000000000000000000000000000000000000000000000349b4dcdc000000000000000000000000000000000000000000000000000000004ef9325cc5991ce750960f636ca2ffbb6e209bb3ba91412f21dd78c14ff154d1930f1f9a0000000000000000000000005050f69a9786f081509234f1a7f4684b5e5b76c9'
  const transaction =
    '0x02f86c8221058034839a4ae283021528942f16386bb37709016023232523ff6d9daf444be380841249c58bc080a001b927eda2af9b00b52a57be0885e0303c39dd2831732e14051c2336470fd468a0681bf120baf562915841a48601c2b54a6742511e535cf8f71c95115af7ff63bd'
  const deposit = decodeTransaction(parseHex(OP_SEPOLIA.blocks[0].transactions[0]))
  const header = { ...readParent().header, timestamp: 1_730_216_981n }
  const membersOf = familyOf(spec).receiptMembers!(spec, header, { ...deposit, input: parseHex(attributes) })
  const members = membersOf!(decodeTransaction(parseHex(transaction)))
  assert.deepEqual(Object.fromEntries(Object.entries(members).map(([name, value]) => [name, Number(value)])), {
    l1GasPrice: 14_121_491_676,
    l1GasUsed: 1600,
    l1Fee: 191_150_293_412,
    l1BaseFeeScalar: 2269,
    l1BlobBaseFee: 1_324_954_204,
    l1BlobBaseFeeScalar: 1_055_762,
  })
})

test('FastLZ compresses to the lengths of the reference', () => {
  // OP Mainnet 0x8eb9dd4eb6d33f4dc25fb015919e4b1e9f7542f9b0322bf6622e268cd116b594
  const transaction =
    '0x02f901550a758302df1483be21b88304743f94f80e51afb613d764fa61751affd3313c190a86bb870151bd62fd12adb8e41ef24f3f000000000000000000000000000000000000000000000000000000000000006e000000000000000000000000af88d065e77c8cc2239327c5edb3a432268e5831000000000000000000000000000000000000000000000000000000000003c1e5000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000a000000000000000000000000000000000000000000000000000000000000000148c89ed219d02f1a5be012c689b4f5b731827bebe000000000000000000000000c001a033fd89cb37c31b2cba46b6466e040c61fc9b2a3675a7f5f493ebd5ad77c497f8a07cdf65680e238392693019b4092f610222e71b7cec06449cb922b93b6a12744e'
  assert.equal(fastLzLength(parseHex(transaction)), 202)
  assert.equal(fastLzLength(new Uint8Array(0)), 0)
  assert.equal(fastLzLength(new Uint8Array(1000).fill(1)), 21)
  assert.equal(fastLzLength(new Uint8Array(1000)), 21)
})

test('FastLZ has the lengths of a compressor whose output decompresses', () => {
  const random = seededRandom(34)
  for (let i = 0; i < 300; i++) {
    const length = random.below(i < 200 ? 60 : 3000)
    const alphabet = 1 + random.below(i % 3 === 0 ? 255 : 6)
    const data = Uint8Array.from({ length }, () => random.below(alphabet))
    const compressed = compress(data)
    assert.deepEqual(decompress(compressed), data)
    assert.equal(fastLzLength(data), compressed.length)
  }
})

/** FastLZ, level 1, with the choices of the reference: writes the bytes that `fastLzLength` counts. */
function compress(data: Uint8Array): Uint8Array {
  const out: number[] = []
  const seen = new Map<number, number>()
  const word = (at: number) => data[at] | (data[at + 1] << 8) | (data[at + 2] << 16)
  const hash = (at: number) => Number((2_654_435_769n * BigInt(word(at))) & 0xffff_ffffn) >>> 19
  const writeLiterals = (from: number, to: number) => {
    for (let at = from; at < to; at += 32) {
      const part = data.subarray(at, Math.min(at + 32, to))
      out.push(part.length - 1, ...part)
    }
  }
  const limit = data.length < 13 ? 0 : data.length - 13
  let start = 0
  let at = 2
  while (at < limit) {
    let from = -1
    for (; at < limit; at++) {
      const candidate = seen.get(hash(at)) ?? 0
      seen.set(hash(at), at)
      if (at + 1 < limit && at - candidate <= 8191 && word(candidate) === word(at)) {
        from = candidate
        break
      }
    }
    if (from < 0) break
    writeLiterals(start, at)
    let length = 3
    while (at + length < limit + 9 && data[from + length] === data[at + length]) length++
    // The reference counts one byte more when the runs differ, which is the length less one that is written.
    const isCut = at + length >= limit + 9
    let rest = length - 3 + (isCut ? 0 : 1)
    const next = at + rest
    const distance = at - from - 1
    for (rest--; rest >= 262; rest -= 262) out.push((7 << 5) | (distance >> 8), 262 - 9, distance & 255)
    if (rest >= 6) out.push((7 << 5) | (distance >> 8), rest - 6, distance & 255)
    else out.push(((rest + 1) << 5) | (distance >> 8), distance & 255)
    seen.set(hash(next), next)
    seen.set(hash(next + 1), next + 1)
    at = next + 2
    start = at
  }
  writeLiterals(start, data.length)
  return Uint8Array.from(out)
}

/** Decompresses FastLZ, level 1, by its format. */
function decompress(data: Uint8Array): Uint8Array {
  const out: number[] = []
  for (let at = 0; at < data.length; ) {
    const [type, low] = [data[at] >> 5, data[at] & 31]
    if (type === 0) {
      out.push(...data.subarray(at + 1, at + 2 + low))
      at += 2 + low
      continue
    }
    const isLong = type === 7
    const length = isLong ? 9 + data[at + 1] : type + 2
    const from = out.length - 1 - ((low << 8) | data[at + (isLong ? 2 : 1)])
    for (let i = 0; i < length; i++) out.push(out[from + i])
    at += isLong ? 3 : 2
  }
  return Uint8Array.from(out)
}
