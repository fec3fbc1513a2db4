import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { signerOf } from '../../../../src/chain/eth/families/clique/signers.js'
import { familyOf } from '../../../../src/chain/eth/families/families.js'
import { rulesAt } from '../../../../src/chain/eth/forks/rules.js'
import { parseGenesis, parseGenesisSpec } from '../../../../src/chain/eth/genesis.js'
import type { Header } from '../../../../src/chain/eth/types.js'
import { formatData } from '../../../../src/lib/hex.js'
import { decodeHeaderJson } from '../../../../src/sources/ethRpc/blockJson.js'
import { verifyHeader } from '../../../../src/sync/validate/header.js'
import { type CliqueSeal, cliqueGenesis, signCliqueHeader } from '../../../support/chains/cliqueBlocks.js'

/** Block 30,000 of Rinkeby, which lists its three signers. */
const RINKEBY_30000 = {
  difficulty: '0x2',
  extraData:
    '0xd783010600846765746887676f312e372e33856c696e7578000000000000000042eb768f2244c8811c63729a21a3569731535f067ffc57839b00206d1ad20c69a1981b489f772031b279182d99e65703f0076e4812653aab85fca0f0c5bc40d0535af16266714ccb26fc49448c10bdf2969411514707d7442956b3397b09a980f4bea9347f70eea52183326247a0239b6d01fa0b07afc44e8a05463301',
  gasLimit: '0x47e7c4',
  gasUsed: '0x0',
  hash: '0x8b27a29300811af926039b90288d3d384dcb55931049c17c4f762e45c116776e',
  logsBloom: `0x${'00'.repeat(256)}`,
  miner: `0x${'00'.repeat(20)}`,
  mixHash: `0x${'00'.repeat(32)}`,
  nonce: '0x0000000000000000',
  number: '0x7530',
  parentHash: '0xff570bb9893cb9bac64e346419fb9ad51e203c1cf6da5cfcc0c0dff3351b454b',
  receiptsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  stateRoot: '0x829b58faacea7b0aa625617ba90c93e08150bed160364a7a96505e8205043d34',
  timestamp: '0x58f5239c',
  transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
}

test('the seal of a real clique block is that of a listed signer, and is required', () => {
  const spec = parseGenesisSpec({ config: { chainId: 4, byzantiumBlock: 0, clique: { period: 15, epoch: 30_000 } } })
  const family = familyOf(spec)
  assert.equal(family.name, 'clique')
  const { header } = decodeHeaderJson(RINKEBY_30000, spec)
  const signers = formatData(header.extraData.subarray(32, 92))
  assert.ok(signers.includes(formatData(signerOf(header)).slice(2)))
  const rules = rulesAt(spec, header.number, header.timestamp)
  const check = (changes: Partial<Header>) => {
    const refuse = (name: string): never => {
      throw new Error(name)
    }
    family.verifyHeader(
      { ...header, ...changes },
      { parent: { ...header, number: 29_999 }, rules, spec, refuse, earlier: () => undefined },
    )
  }
  check({})
  assert.throws(() => check({ difficulty: 3n }), /difficulty/)
  assert.throws(() => check({ number: 30_001 }), /extra data/)
  assert.throws(() => check({ extraData: Uint8Array.from(header.extraData).fill(0, 92) }), /seal/)
  assert.throws(() => check({ mixHash: new Uint8Array(32).fill(1) }), /mix hash/)
})

describe('the signer of a clique block', () => {
  const EPOCH = 12
  const genesis = parseGenesis(cliqueGenesis(EPOCH))
  const { spec } = genesis
  const first = { header: genesis.header, hash: familyOf(spec).hashHeader(genesis.header) }
  /** Signs and checks headers one after another. `signers` has their number at each. */
  const extend = (seals: readonly CliqueSeal[], signers: readonly number[] = []) => {
    const chain = [first]
    for (const [index, seal] of seals.entries()) {
      const parent = chain[index]
      const next = signCliqueHeader(parent, seal, signers[index] ?? 3)
      const rules = rulesAt(spec, next.header.number, next.header.timestamp)
      verifyHeader(next.header, next.hash, parent, rules, spec, (number) => chain[number]?.header)
      chain.push(next)
    }
  }
  const turns = (from: number, to: number): CliqueSeal[] =>
    Array.from({ length: to - from + 1 }, (_, i) => ({ signer: (from + i) % 3 }))

  it('is one of the signers, in turn or with less difficulty', () => {
    extend(turns(1, 8))
    extend([{ signer: 0 }, { signer: 2 }])
    assert.throws(() => extend([{ signer: 3 }]), /block 1 .*: signer: expected one of 0x/)
    assert.throws(() => extend([{ signer: 0, difficulty: 2n }]), /difficulty: expected 1 of signer 0x/)
    assert.throws(() => extend([{ signer: 1, difficulty: 1n }]), /difficulty: expected 2 of signer 0x/)
  })

  it('waits for half of the signers', () => {
    extend([{ signer: 1 }, { signer: 0 }, { signer: 1 }])
    assert.throws(() => extend([{ signer: 1 }, { signer: 1 }]), /signer: expected none of the last 1 blocks/)
  })

  it('is added and removed by more than half of the votes', () => {
    const add = { candidate: 3, adds: true }
    const added = [
      { signer: 1, vote: add },
      { signer: 2, vote: add },
    ]
    extend([...added, { signer: 3 }, { signer: 0 }], [3, 3, 4, 4])
    assert.throws(() => extend([added[0], { signer: 2 }, { signer: 3 }]), /signer: expected one of/)
    const remove = { candidate: 2, adds: false }
    const removed = [
      { signer: 1, vote: remove },
      { signer: 0, vote: remove },
    ]
    extend([...removed, { signer: 1 }, { signer: 0 }], [3, 3, 2, 2])
    assert.throws(() => extend([...removed, { signer: 2 }], [3, 3, 2]), /signer: expected one of/)
  })

  it('is listed at the end of an epoch, which drops votes', () => {
    const add = { candidate: 3, adds: true }
    const until = turns(1, 11)
    until[10] = { ...until[10], vote: add }
    const list = { signer: 0, list: [0, 1, 2] }
    extend([...until, list, { signer: 1, vote: add }, { signer: 2 }])
    const late = [...until, list, { signer: 1, vote: add }, { signer: 3 }]
    assert.throws(() => extend(late), /block 14 .*: signer: expected one of/)
    const wrong = [...turns(1, 11), { signer: 0, list: [0, 1, 3] }]
    assert.throws(() => extend(wrong), /block 12 .*: signers: expected 0x[0-9a-fx,]*, those of the votes/)
    const voting = [...turns(1, 11), { ...list, vote: add }]
    assert.throws(() => extend(voting), /beneficiary: expected none in a block with a list/)
  })
})
