import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keccak256 } from '../../../../src/chain/crypto.js'
import { familyOf } from '../../../../src/chain/eth/families/families.js'
import { blobBaseFeeOf } from '../../../../src/chain/eth/fees.js'
import { forkHashAt } from '../../../../src/chain/eth/forkId.js'
import { rulesAt } from '../../../../src/chain/eth/forks/rules.js'
import { builtInGenesis, parseGenesisSpec } from '../../../../src/chain/eth/genesis.js'
import { formatGenesisConfig } from '../../../../src/chain/eth/genesisConfig.js'
import { formatData } from '../../../../src/lib/hex.js'

describe('networks of Gnosis', () => {
  // EIP-2124, from clients of these networks and from eth_config of a node.
  for (const [network, ids] of Object.entries({
    gnosis: {
      1690889660: 0x2efe91ba,
      1710181820: 0x1384dfc1,
      1746021820: 0x2f095d4a,
      1766419900: 0xd00284ad,
      1776168380: 0xcfca387c,
    },
    chiado: { 1684934220: 0xa15a4252, 1706724940: 0x5fbc16bc, 1741254220: 0x8ba51786 },
  })) {
    it(`have the fork ids of ${network}`, () => {
      const { spec, hash } = builtInGenesis(network as 'gnosis' | 'chiado')
      for (const [time, id] of Object.entries(ids)) assert.equal(forkHashAt(spec, hash, BigInt(time)), id, time)
    })
  }

  it('have a minimum price of blobs of 1 gwei', () => {
    const { spec } = builtInGenesis('gnosis')
    for (const time of [1_710_181_820n, 1_746_021_820n, 1_776_168_380n]) {
      const rules = rulesAt(spec, 40_000_000, time)
      assert.deepEqual([rules.blobs!.target, rules.blobs!.max], [1, 2])
      assert.equal(blobBaseFeeOf(0n, rules), 1_000_000_000n)
    }
  })

  it('are read back from the configuration that is written', () => {
    for (const network of ['gnosis', 'chiado'] as const) {
      const { spec } = builtInGenesis(network)
      const config = JSON.parse(JSON.stringify(formatGenesisConfig(spec), (_, each) => toJson(each)))
      const { family, gnosis, minBlobBaseFee } = parseGenesisSpec({ config })
      assert.deepEqual([family, gnosis, minBlobBaseFee], [spec.family, spec.gnosis, spec.minBlobBaseFee])
      assert.deepEqual(
        rulesAt(parseGenesisSpec({ config }), 1, 1_776_168_380n).blobs,
        rulesAt(spec, 1, 1_776_168_380n).blobs,
      )
    }
  })

  it('have no blocks before the merge, and name what a genesis lacks', () => {
    const { spec, header } = builtInGenesis('gnosis')
    const context = { parent: header, rules: rulesAt(spec, 1, 0n), spec, earlier: () => undefined, refuse: refuseText }
    const check = () => familyOf(spec).verifyHeader({ ...header, number: 1, difficulty: 5n }, context)
    assert.throws(check, /difficulty: 0: blocks before the merge, sealed by Authority Round, are refused, got 5/)
    const parse = (aura: object) => () => parseGenesisSpec({ config: { chainId: 1, aura } })
    assert.throws(parse({}), /config\.aura\.eip1559FeeCollector: expected the account that gets base fees, got nothing/)
    const eip1559FeeCollector = `0x${'12'.repeat(20)}`
    const wrong = { eip1559FeeCollector, blockRewardContractTransitions: { soon: eip1559FeeCollector } }
    assert.throws(parse(wrong), /config\.aura\.blockRewardContractTransitions: block: expected .* got "?soon/)
  })

  it('set the code that the specification of the Balancer fork has', () => {
    const [{ code }] = builtInGenesis('gnosis').spec.gnosis!.codeChanges
    const expected = '0x17f0e6dc6c0af5cb850ff5c6b6b3289ea27b5a49f6f1c4174369732d75bf2a8e'
    assert.deepEqual([code.length, formatData(keccak256(code))], [1828, expected])
  })
})

const toJson = (value: unknown) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : value)

function refuseText(check: string, expected: unknown, actual: unknown): never {
  throw new Error(`${check}: ${expected}, got ${actual}`)
}
