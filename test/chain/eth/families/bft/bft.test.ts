import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeBlock, encodeBlock } from '../../../../../src/chain/eth/block.js'
import { readBftExtraData } from '../../../../../src/chain/eth/families/bft/extraData.js'
import { familyOf } from '../../../../../src/chain/eth/families/families.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { parseGenesis, parseGenesisSpec } from '../../../../../src/chain/eth/genesis.js'
import { formatGenesisConfig } from '../../../../../src/chain/eth/genesisConfig.js'
import type { Block, Header } from '../../../../../src/chain/eth/types.js'
import { formatData, parseHex } from '../../../../../src/lib/hex.js'
import { verifyBody } from '../../../../../src/sync/validate/body.js'
import { verifyHeader } from '../../../../../src/sync/validate/header.js'
import { ADDRESSES, bftGenesis, type Seal, sealBftBlock } from '../../../../support/chains/bftBlocks.js'

for (const name of ['qbft', 'ibft2'] as const) {
  describe(`blocks of ${name}`, () => {
    const { spec, header } = parseGenesis(bftGenesis(name))
    const family = familyOf(spec)
    const first = { header, hash: family.hashHeader(header) }
    const check = (block: Block, parent: { header: Header; hash: Uint8Array }) => {
      const rules = rulesAt(spec, block.header.number, block.header.timestamp)
      verifyHeader(block.header, block.hash, parent, rules, spec)
      verifyBody(block, rules, spec)
    }

    it('have the hash without round and seals, in RLP too', () => {
      const block = sealBftBlock(name, first)
      assert.deepEqual(family.hashHeader(block.header), block.hash)
      const others = sealBftBlock(name, first, { signers: [1, 2, 3], round: 2 })
      assert.deepEqual(others.hash, block.hash)
      assert.notDeepEqual(others.header.extraData, block.header.extraData)
      assert.deepEqual(decodeBlock(encodeBlock(block), undefined, family).hash, block.hash)
      check(block, first)
      check(others, first)
    })

    it('are refused without seals of two thirds of the validators', () => {
      const refuses = (expected: RegExp, options: Seal, parent = first) =>
        assert.throws(() => check(sealBftBlock(name, parent, options), parent), expected)
      refuses(/seals: expected at least 3 of 4/, { signers: [0, 1] })
      refuses(/seals: expected of validators/, { signers: [0, 1, 4] })
      refuses(/seals: expected each of another validator/, { signers: [0, 1, 1] })
      refuses(/validators: expected those of the parent/, { validators: ADDRESSES, signers: [0, 1, 2, 4] })
      const forged = sealBftBlock(name, first)
      assert.throws(
        () =>
          check({ ...forged, header: { ...forged.header, gasUsed: 0n, stateRoot: new Uint8Array(32).fill(1) } }, first),
        /seals/,
      )
      assert.throws(() => check({ ...forged, header: { ...forged.header, difficulty: 2n } }, first), /difficulty/)
    })

    it('may add the validator that the block before votes on', () => {
      const vote = [ADDRESSES[4], name === 'qbft' ? Uint8Array.of(255) : Uint8Array.of(255)]
      const voted = sealBftBlock(name, first, { vote })
      check(voted, first)
      assert.deepEqual(readBftExtraData(voted.header.extraData).candidate, ADDRESSES[4])
      check(sealBftBlock(name, voted, { validators: ADDRESSES, signers: [0, 1, 2, 4] }), voted)
    })

    it('have rules that a genesis file keeps', () => {
      const config = JSON.parse(
        JSON.stringify(formatGenesisConfig(spec), (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
      )
      assert.deepEqual(parseGenesisSpec({ config }).bft, spec.bft)
      assert.equal(parseGenesisSpec({ config }).family, name)
    })
  })
}

it('decodes the extra data of the test of QBFT in Besu', () => {
  const { validators, candidate, seals } = readBftExtraData(
    parseHex(
      '0xf8f0a00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20ea9400000000000000000000000000000000000000019400000000000000000000000000000000000000' +
        '02d794000000000000000000000000000000000000000181ff83fedcbaf886b841000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000' +
        '0000000000000000000000000000000000000a00b841000000000000000000000000000000000000000000000000000000000000000a000000000000000000000000000000000000000000000000' +
        '000000000000000100',
    ),
  )
  assert.deepEqual(validators.map(formatData), [
    '0x0000000000000000000000000000000000000001',
    '0x0000000000000000000000000000000000000002',
  ])
  assert.equal(formatData(candidate!), '0x0000000000000000000000000000000000000001')
  assert.equal(seals.length, 2)
})
