import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keccak256, signHash } from '../../../../../src/chain/crypto.js'
import { decodeBlock, encodeBlock } from '../../../../../src/chain/eth/block.js'
import { readBftExtraData } from '../../../../../src/chain/eth/families/bft/extraData.js'
import { familyOf } from '../../../../../src/chain/eth/families/families.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { parseGenesis, parseGenesisSpec } from '../../../../../src/chain/eth/genesis.js'
import { formatGenesisConfig } from '../../../../../src/chain/eth/genesisConfig.js'
import { encodeHeader } from '../../../../../src/chain/eth/header.js'
import { encodeRlp, type RlpInput } from '../../../../../src/chain/eth/rlp.js'
import type { Block, Header } from '../../../../../src/chain/eth/types.js'
import { concatBytes, padLeft } from '../../../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../../../src/lib/hex.js'
import { verifyBody } from '../../../../../src/sync/validate/body.js'
import { verifyHeader } from '../../../../../src/sync/validate/header.js'
import { addressOfPrivateKey } from '../../../../support/signing.js'

/* Chains that the test seals itself, by the description of the protocols: the block hash leaves out round and seals,
 * and the seals sign everything but themselves. */

const KEYS = [1, 2, 3, 4, 5].map((n) => padLeft(Uint8Array.of(n), 32))
const ADDRESSES = KEYS.map(addressOfPrivateKey)
const MIX_HASH = '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365'

type Name = 'qbft' | 'ibft2'
interface Seal {
  validators?: readonly Uint8Array[]
  signers?: readonly number[]
  vote?: RlpInput
  round?: number
}

function genesisOf(name: Name) {
  const extraData = formatData(
    encodeRlp([
      new Uint8Array(32),
      ADDRESSES.slice(0, 4),
      name === 'qbft' ? [] : new Uint8Array(0),
      name === 'qbft' ? 0n : new Uint8Array(4),
      [],
    ]),
  )
  return {
    config: { chainId: 1337, berlinBlock: 0, [name]: { blockperiodseconds: 2 } },
    gasLimit: '0x1c9c380',
    difficulty: '0x1',
    mixHash: MIX_HASH,
    extraData,
    alloc: {},
  }
}

/** Seals a block on top of a parent as a node of the protocol does. */
function seal(name: Name, parent: { header: Header; hash: Uint8Array }, options: Seal = {}): Block {
  const { validators = ADDRESSES.slice(0, 4), signers = [0, 1, 2], round = 0 } = options
  const vote = options.vote ?? (name === 'qbft' ? [] : new Uint8Array(0))
  const writtenRound: RlpInput = name === 'qbft' ? BigInt(round) : padLeft(Uint8Array.of(round), 4)
  const vanity = new Uint8Array(32).fill(7)
  const header: Header = {
    ...parent.header,
    parentHash: parent.hash,
    number: parent.header.number + 1,
    timestamp: parent.header.timestamp + 2n,
    miner: ADDRESSES[0],
    mixHash: parseHex(MIX_HASH),
  }
  const hashOf = (fields: RlpInput) => keccak256(encodeHeader({ ...header, extraData: encodeRlp(fields) }))
  const common = [vanity, validators, vote]
  const toSign = hashOf(name === 'qbft' ? [...common, writtenRound, []] : [...common, writtenRound])
  const seals = signers.map((index) => {
    const { r, s, recoveryId } = signHash(toSign, KEYS[index])
    return concatBytes(r, s, Uint8Array.of(recoveryId))
  })
  header.extraData = encodeRlp([...common, writtenRound, seals])
  const hash = hashOf(name === 'qbft' ? [...common, 0n, []] : common)
  return { hash, header, transactions: [], uncles: [], sizeBytes: 0 }
}

for (const name of ['qbft', 'ibft2'] as const) {
  describe(`blocks of ${name}`, () => {
    const { spec, header } = parseGenesis(genesisOf(name))
    const family = familyOf(spec)
    const first = { header, hash: family.hashHeader(header) }
    const check = (block: Block, parent: { header: Header; hash: Uint8Array }) => {
      const rules = rulesAt(spec, block.header.number, block.header.timestamp)
      verifyHeader(block.header, block.hash, parent, rules, spec)
      verifyBody(block, rules, spec)
    }

    it('have the hash without round and seals, in RLP too', () => {
      const block = seal(name, first)
      assert.deepEqual(family.hashHeader(block.header), block.hash)
      const others = seal(name, first, { signers: [1, 2, 3], round: 2 })
      assert.deepEqual(others.hash, block.hash)
      assert.notDeepEqual(others.header.extraData, block.header.extraData)
      assert.deepEqual(decodeBlock(encodeBlock(block), undefined, family).hash, block.hash)
      check(block, first)
      check(others, first)
    })

    it('are refused without seals of two thirds of the validators', () => {
      const refuses = (expected: RegExp, options: Seal, parent = first) =>
        assert.throws(() => check(seal(name, parent, options), parent), expected)
      refuses(/seals: expected at least 3 of 4/, { signers: [0, 1] })
      refuses(/seals: expected of validators/, { signers: [0, 1, 4] })
      refuses(/seals: expected each of another validator/, { signers: [0, 1, 1] })
      refuses(/validators: expected those of the parent/, { validators: ADDRESSES, signers: [0, 1, 2, 4] })
      const forged = seal(name, first)
      assert.throws(
        () =>
          check({ ...forged, header: { ...forged.header, gasUsed: 0n, stateRoot: new Uint8Array(32).fill(1) } }, first),
        /seals/,
      )
      assert.throws(() => check({ ...forged, header: { ...forged.header, difficulty: 2n } }, first), /difficulty/)
    })

    it('may add the validator that the block before votes on', () => {
      const vote = [ADDRESSES[4], name === 'qbft' ? Uint8Array.of(255) : Uint8Array.of(255)]
      const voted = seal(name, first, { vote })
      check(voted, first)
      assert.deepEqual(readBftExtraData(voted.header.extraData).candidate, ADDRESSES[4])
      check(seal(name, voted, { validators: ADDRESSES, signers: [0, 1, 2, 4] }), voted)
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
