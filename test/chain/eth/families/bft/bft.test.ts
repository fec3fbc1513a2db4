import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeBlock, encodeBlock } from '../../../../../src/chain/eth/block.js'
import { readBftExtraData } from '../../../../../src/chain/eth/families/bft/extraData.js'
import { familyOf } from '../../../../../src/chain/eth/families/families.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { parseGenesis, parseGenesisSpec } from '../../../../../src/chain/eth/genesis.js'
import { formatGenesisConfig } from '../../../../../src/chain/eth/genesisConfig.js'
import { EMPTY_TRIE_ROOT } from '../../../../../src/chain/eth/trie.js'
import type { Block, Header } from '../../../../../src/chain/eth/types.js'
import { compareBytes } from '../../../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../../../src/lib/hex.js'
import { verifyBody } from '../../../../../src/sync/validate/body.js'
import { verifyHeader } from '../../../../../src/sync/validate/header.js'
import { ADDRESSES, bftGenesis, type Seal, sealBftBlock } from '../../../../support/chains/bftBlocks.js'

const EMPTY_BODY = { transactionsRoot: EMPTY_TRIE_ROOT, receiptsRoot: EMPTY_TRIE_ROOT }

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
      refuses(/validators: expected 0x[0-9a-fx,]*, those of the votes/, {
        validators: ADDRESSES,
        signers: [0, 1, 2, 4],
      })
      const forged = sealBftBlock(name, first)
      assert.throws(
        () =>
          check({ ...forged, header: { ...forged.header, gasUsed: 0n, stateRoot: new Uint8Array(32).fill(1) } }, first),
        /seals/,
      )
      assert.throws(() => check({ ...forged, header: { ...forged.header, difficulty: 2n } }, first), /difficulty/)
    })

    const add = [ADDRESSES[4], Uint8Array.of(255)]
    const remove = [ADDRESSES[3], name === 'qbft' ? new Uint8Array(0) : new Uint8Array(1)]
    /** Seals and checks blocks one after another, with all blocks before available. */
    const extend = (seals: readonly Seal[], from = first, rules = spec): Block[] => {
      const blocks: Block[] = []
      let parent: { header: Header; hash: Uint8Array } = from
      for (const seal of seals) {
        const block = sealBftBlock(name, parent, seal)
        const earlier = (number: number) => (number === 0 ? header : blocks[number - 1]?.header)
        const active = rulesAt(rules, block.header.number, block.header.timestamp)
        verifyHeader(block.header, block.hash, parent, active, rules, earlier)
        blocks.push(block)
        parent = block
      }
      return blocks
    }
    const five = { validators: ADDRESSES, signers: [0, 1, 2, 4] }

    it('have the validators of the votes before', () => {
      const voted = [{ vote: add }, { vote: add, proposer: 1 }, { vote: add, proposer: 2 }]
      extend([...voted, five])
      assert.throws(
        () => extend([...voted, {}]),
        /validators: expected 0x[0-9a-fx,]*, those of the votes, the block has/,
      )
      // A proposer has one vote, and may change it.
      assert.throws(() => extend([{ vote: add }, { vote: add }, { vote: add, proposer: 1 }, five]), /validators/)
      const unvote = { vote: [ADDRESSES[4], remove[1]], proposer: 1 }
      assert.throws(() => extend([voted[0], voted[1], unvote, voted[2], five]), /validators/)
      const removed = [{ vote: remove }, { vote: remove, proposer: 1 }, { vote: remove, proposer: 2 }]
      const three = { validators: ADDRESSES.slice(0, 3), signers: [0, 1] }
      extend([...removed, three])
      assert.throws(() => extend([...removed, { ...three, proposer: 3 }]), /proposer: expected a validator/)
    })

    it('that end an epoch drop the votes', () => {
      const voted = [{ vote: add }, { vote: add, proposer: 1 }, {}, { vote: add, proposer: 2 }]
      extend([...voted, five])
      const epochs = parseGenesisSpec(bftGenesis(name, { [name]: { epochlength: 3 } }))
      assert.throws(() => extend([...voted, five], first, epochs), /validators/)
      extend([...voted, {}], first, epochs)
    })

    it('may change by the vote of the block before, where earlier votes are not available', () => {
      const [before] = extend([{}])
      const voted = sealBftBlock(name, before, { vote: add })
      check(voted, before)
      assert.deepEqual(readBftExtraData(voted.header.extraData).candidate, ADDRESSES[4])
      check(sealBftBlock(name, voted, five), voted)
      check(sealBftBlock(name, voted), voted)
      const other = { validators: ADDRESSES.slice(0, 3), signers: [0, 1] }
      assert.throws(
        () => check(sealBftBlock(name, voted, other), voted),
        /validators: expected those of the parent with or/,
      )
    })

    it('have no validators where a contract names them', () => {
      const contract = `0x${'00'.repeat(18)}7777`
      const config = { [name]: {}, transitions: { [name]: [{ block: 2, validatorcontractaddress: contract }] } }
      const rules = parseGenesisSpec(bftGenesis(name, config))
      extend([{}, { validators: [] }, { validators: [] }], first, rules)
      assert.throws(() => extend([{}, {}], first, rules), /validators: expected no validators and no vote/)
      assert.throws(() => extend([{}, { validators: [], signers: [] }], first, rules), /seals: expected at least 1/)
      const named = sealBftBlock(name, first)
      const { header } = sealBftBlock(name, named, { validators: [] })
      assert.equal(family.sealsAreFinal!(named.header, false), true)
      assert.equal(family.sealsAreFinal!(header, false), false)
      assert.equal(family.sealsAreFinal!(header, true), true)
    })

    it('have the validators that a transition names', () => {
      const validators = ADDRESSES.slice(0, 2).map(formatData)
      const rules = parseGenesisSpec(bftGenesis(name, { transitions: { [name]: [{ block: 2, validators }] } }))
      const two = { validators: ADDRESSES.slice(0, 2).sort(compareBytes), signers: [0, 1] }
      extend([{}, two, two], first, rules)
      assert.throws(() => extend([{}, {}], first, rules), /those of the votes/)
    })

    it('have the transitions of their number, and from the first fork by time on those of their time', () => {
      const transitions = [2, 2_000].map((block) => ({ block, blockreward: `${block}` }))
      const config = { [name]: { blockreward: '1' }, shanghaiTime: 1_000, transitions: { [name]: transitions } }
      const rules = parseGenesisSpec(bftGenesis(name, config))
      const rewardAt = (number: number, timestamp: bigint) =>
        family.execution!.reward!(rules, { ...header, number, timestamp })!.wei
      assert.equal(rewardAt(1, 999n), 1n)
      assert.equal(rewardAt(2, 999n), 2n)
      assert.equal(rewardAt(3_000, 999n), 2n)
      assert.equal(rewardAt(1, 1_000n), 2n)
      assert.equal(rewardAt(1, 2_000n), 2_000n)
    })

    it('may lack the fields of forks by time, as those of Besu before 26.1', () => {
      const config = { londonBlock: 0, pragueTime: 1, zeroBaseFee: true }
      const rules = parseGenesisSpec(bftGenesis(name, config))
      const london = { ...header, baseFeePerGas: 0n }
      const [block] = extend([{}], { header: london, hash: family.hashHeader(london) }, rules)
      const active = rulesAt(rules, 1, block.header.timestamp)
      assert.equal(active.fork, 'prague')
      assert.deepEqual([active.systemCalls, active.requestContracts], [[], []])
      assert.doesNotThrow(() => verifyBody({ ...block, header: { ...block.header, ...EMPTY_BODY } }, active, rules))
      assert.throws(() => verifyBody({ ...block, withdrawals: [] }, active, rules), /withdrawals: expected none/)
    })

    it('of another family are refused by their extra data', () => {
      const block = sealBftBlock(name, first)
      const ofClique = { ...block.header, extraData: new Uint8Array(97) }
      assert.throws(() => check({ ...block, header: ofClique }, first), /extra data: expected vanity, validators, vote/)
      const vote = [ADDRESSES[4], Uint8Array.of(7)]
      assert.throws(() => check(sealBftBlock(name, first, { vote }), first), /extra data: .*0xff or zero/)
    })

    it('have rules that a genesis file keeps', () => {
      const spec = parseGenesisSpec(
        bftGenesis(name, {
          ...{ [name]: { epochLength: 7, blockReward: '0x10' }, zeroBaseFee: true, contractSizeLimit: 50_000 },
          transitions: { [name]: [{ block: 9, miningbeneficiary: `0x${'01'.repeat(20)}`, blockreward: '5' }] },
        }),
      )
      assert.deepEqual(
        spec.bft!.periods.map(({ blockReward }) => blockReward),
        [16n, 5n],
      )
      assert.equal(rulesAt(spec, 1, 0n).maxCodeSize, 50_000)
      const config = JSON.parse(
        JSON.stringify(formatGenesisConfig(spec), (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
      )
      assert.deepEqual(parseGenesisSpec({ config }).bft, spec.bft)
      assert.deepEqual(parseGenesisSpec({ config }).familyForks, spec.familyForks)
      assert.equal(parseGenesisSpec({ config }).family, name)
    })
  })
}

it('names the member of a genesis that is wrong', () => {
  const refuses = (config: object, message: RegExp) =>
    assert.throws(() => parseGenesisSpec(bftGenesis('qbft', config)), message)
  refuses({ qbft: { epochlength: 0 } }, /config\.qbft\.epochlength: expected at least 1, got 0/)
  refuses(
    { qbft: { validatorselectionmode: 'x' } },
    /validatorselectionmode: expected contract or blockheader, got "x"/,
  )
  refuses({ transitions: { qbft: 1 } }, /config\.transitions\.qbft: expected a list, got 1/)
  const unordered = [{ block: 5 }, { block: 4 }]
  refuses({ transitions: { qbft: unordered } }, /config\.transitions\[1\]\.block: expected those in order, got 4/)
  refuses({ transitions: { qbft: [{ block: 1, validators: 'x' }] } }, /validators: expected a list of addresses/)
})

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
