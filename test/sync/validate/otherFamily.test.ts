import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { FAMILIES, familyOf } from '../../../src/chain/eth/families/families.js'
import { type ChainSpec, rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { parseGenesisSpec } from '../../../src/chain/eth/genesis.js'
import { parseHex } from '../../../src/lib/hex.js'
import { verifyHeader } from '../../../src/sync/validate/header.js'
import { readOpChain } from '../../support/chains/op/opChain.js'
import { readSealedChain, SEALED_CHAINS } from '../../support/chains/sealed/sealedChains.js'

interface Chain {
  readonly spec: ChainSpec
  readonly raw: readonly string[]
}

const op = readOpChain()
const CHAINS: readonly Chain[] = [
  ...SEALED_CHAINS.map(readSealedChain).map(({ genesis, blocks }) => ({
    spec: parseGenesisSpec(genesis),
    raw: [blocks[10].raw, blocks[50].raw],
  })),
  { spec: parseGenesisSpec(op.genesis), raw: [op.blocks.at(-30)!.raw, op.blocks.at(-1)!.raw] },
]
const ETHEREUM = parseGenesisSpec({ ...readSealedChain('clique').genesis, config: { chainId: 1, londonBlock: 0 } })

/** What is said of a block by the rules of a chain. */
function refusal(raw: string, spec: ChainSpec): string {
  try {
    const { header, hash } = decodeBlock(parseHex(raw), undefined, familyOf(spec))
    const parent = { hash: new Uint8Array(32), header: { ...header, number: header.number - 1 } }
    verifyHeader(header, hash, parent, rulesAt(spec, header.number, header.timestamp, 0n), spec)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the block is accepted')
}

test('a block of another family is refused with the name of its family and how to choose it', () => {
  for (const { spec: own, raw } of CHAINS) {
    const { title, chosenBy } = familyOf(own)
    for (const other of [ETHEREUM, ...CHAINS.map(({ spec }) => spec)]) {
      const isOther = familyOf(other) !== familyOf(own)
      for (const each of raw) {
        const message = refusal(each, other)
        const named = message.endsWith(`it has the form of a block of ${title}: ${chosenBy} chooses that family`)
        assert.equal(named, isOther, `${title} by the rules of ${familyOf(other).title}: ${message}`)
      }
    }
  }
})

test('the header of a block has the form of one family at most', () => {
  for (const { spec, raw } of CHAINS) {
    for (const each of raw) {
      const { header } = decodeBlock(parseHex(each), undefined, familyOf(spec))
      assert.deepEqual(
        FAMILIES.filter(({ recognises }) => recognises?.(header)).map(({ name }) => name),
        [familyOf(spec).name],
      )
    }
  }
})
