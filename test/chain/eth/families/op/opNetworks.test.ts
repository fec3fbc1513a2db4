import assert from 'node:assert/strict'
import { test } from 'node:test'
import { genesisOfRollup } from '../../../../../src/chain/eth/families/op/rollupConfig.js'
import { forkHashAt } from '../../../../../src/chain/eth/forkId.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { builtInGenesis, builtInSpec, parseGenesis } from '../../../../../src/chain/eth/genesis.js'

test('networks of the OP stack have the fork ids that op-geth 1.101702.3 computes', () => {
  const ids = {
    'op-mainnet': [0xbdd4fdb2, 0x37be758f, 0xd53e568f, 0xc29239af],
    'op-sepolia': [0xa48d6a00, 0x079f2fd8, 0x079f2fd8, 0x91620456],
  } as const
  for (const [network, expected] of Object.entries(ids)) {
    const { spec, hash } = builtInGenesis(network as keyof typeof ids)
    const times = [1_704_992_401n, 1_763_568_001n, 1_764_691_201n, 1_790_000_000n]
    assert.deepEqual(
      times.map((time) => forkHashAt(spec, hash, time)),
      expected,
      network,
    )
  }
})

test('the first block of Bedrock has the rules after the merge', () => {
  const rules = rulesAt(builtInSpec('op-mainnet'), 105_235_063, 1_686_068_903n, 0n)
  assert.deepEqual([rules.isProofOfStake, rules.eip1559, rules.eip4895], [true, true, false])
})

test('Karst and Azul have what Osaka changes for execution, with limits of their own', () => {
  const rulesOf = (network: 'op-mainnet' | 'base', timestamp: bigint) => {
    const rules = rulesAt(builtInSpec(network), 200_000_000, timestamp, 0n)
    const { eip7825, eip7934, modexpPricing, modexpMaxLength, p256VerifyGas, instructions, precompiles } = rules
    const p256 = precompiles.filter(([address]) => address === 0x100).length
    const pairing = rules.precompileMaxInputs[8]
    const hasClz = instructions.some(([, mnemonic]) => mnemonic === 'CLZ')
    return { eip7825, eip7934, modexpPricing, modexpMaxLength, p256VerifyGas, p256, pairing, hasClz }
  }
  const jovian = {
    ...{ eip7825: false, eip7934: false, modexpPricing: 2565, modexpMaxLength: Number.MAX_SAFE_INTEGER },
    ...{ p256VerifyGas: 3450, p256: 1, pairing: 81_984, hasClz: false },
  }
  const osaka = { eip7825: true, modexpPricing: 7883, modexpMaxLength: 1024, p256VerifyGas: 6900, hasClz: true }
  assert.deepEqual(rulesOf('op-mainnet', 1_783_526_400n), jovian)
  assert.deepEqual(rulesOf('op-mainnet', 1_783_526_401n), { ...jovian, ...osaka, pairing: 57_600 })
  assert.deepEqual(rulesOf('base', 1_779_991_199n), jovian)
  assert.deepEqual(rulesOf('base', 1_779_991_200n), { ...jovian, ...osaka })
})

test('a rollup configuration has the rules of the network, and unknown forks in it are refused', () => {
  // That of OP Sepolia, as kona writes it: without Regolith, which began with block 0.
  const rollup = {
    genesis: {
      l1: { number: 4_071_408, hash: '0x48f520cf4ddaf34c8336e6e490632ea3cf1e5e93b0b2bc6e917557e31845371b' },
      l2: { number: 0, hash: '0x102de6ffb001480cc9b8b548fd05c34cd4f46ae4aa91759393db90ea0409887d' },
      l2_time: 1_691_802_540,
    },
    ...{ block_time: 2, l1_chain_id: 11_155_111, l2_chain_id: 11_155_420, interop_time: null },
    ...{
      canyon_time: 1_699_981_200,
      delta_time: 1_703_203_200,
      ecotone_time: 1_708_534_800,
      fjord_time: 1_716_998_400,
    },
    ...{ granite_time: 1_723_478_400, holocene_time: 1_732_633_200, pectra_blob_schedule_time: 1_742_486_400 },
    ...{ isthmus_time: 1_744_905_600, jovian_time: 1_763_568_001, karst_time: 1_781_712_001 },
    chain_op_config: { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
  }
  const { spec, hash } = parseGenesis(genesisOfRollup(rollup))
  const builtIn = builtInGenesis('op-sepolia')
  assert.deepEqual(
    [spec.op, spec.activations, spec.chainId, hash],
    [...[builtIn.spec.op, builtIn.spec.activations, builtIn.spec.chainId, builtIn.hash]],
  )
  const { jovian_time: _, ...withoutJovian } = rollup
  const { times } = parseGenesis(genesisOfRollup(withoutJovian)).spec.op!
  assert.equal(times.jovian, times.karst)
  assert.throws(() => genesisOfRollup({ ...rollup, lagoon_time: 5 }), /lagoon_time: Cairn does not know this fork/)
  const { karst_time: __, ...withoutKarst } = rollup
  const base = { ...withoutKarst, base: { azul: 1_776_708_000, beryl: null } }
  assert.deepEqual(parseGenesis(genesisOfRollup(base)).spec.op!.baseTimes, { azul: 1_776_708_000n })
  assert.throws(() => genesisOfRollup({ ...base, base: { cobalt: 5 } }), /base\.cobalt: Cairn does not know this fork/)
  assert.throws(() => parseGenesis(genesisOfRollup({ ...rollup, base: { azul: 5 } })), /config\.karstTime: a chain has/)
  const later = { ...rollup.genesis, l2: { ...rollup.genesis.l2, number: 7 } }
  assert.throws(() => genesisOfRollup({ ...rollup, genesis: later }), /genesis\.l2\.number: expected 0/)
})
