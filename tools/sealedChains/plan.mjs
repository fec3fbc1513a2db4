// plan.mjs qbft|ibft2 DIR: writes genesis.json and plan.txt for MakeChain: transactions of all types, votes, rounds, transitions.
// A line of the plan: index of the proposer, round, vote, indexes of those who seal, transactions.

import fs from 'node:fs'
import { getContractAddress, keccak256, pad, toBytes, toRlp } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const [kind, dir] = process.argv.slice(2)
const keys = [0, 1, 2, 3, 4].map((i) => keccak256(toBytes(`cairn qbft validator ${i}`))),
  accs = keys.map((k) => privateKeyToAccount(k)),
  addr = accs.map((a) => a.address.toLowerCase())
const users = [0, 1, 2].map((i) => privateKeyToAccount(keccak256(toBytes(`cairn qbft user ${i}`))))
const chainId = kind === 'qbft' ? 3737 : 3838
const four = addr.slice(0, 4).sort()
const C = '0x00000000000000000000000000000000000c0ffe',
  V = '0x0000000000000000000000000000000000007777'
const extra =
  kind === 'qbft'
    ? toRlp([`0x${'00'.repeat(32)}`, four, [], '0x', []])
    : toRlp([`0x${'00'.repeat(32)}`, four, '0x', '0x00000000', []])
const alloc = {}
for (const u of users) alloc[u.address] = { balance: '0x21e19e0c9bab2400000' }
// getValidators(): the ABI encoding of an array of the first three addresses
const words = [
  '20'.padStart(64, '0'),
  '3'.padStart(64, '0'),
  ...four.slice(0, 3).map((a) => a.slice(2).padStart(64, '0')),
]
const code =
  '0x' +
  words.map((w, i) => `7f${w}60${(32 * i).toString(16).padStart(2, '0')}52`).join('') +
  `60${(32 * words.length).toString(16)}6000f3`
alloc[V] = { balance: '0x0', code }
const bft = { epochlength: 25, blockperiodseconds: 1, requesttimeoutseconds: 2, blockreward: '2000000000000000000' }
const transitions =
  kind === 'qbft'
    ? {
        qbft: [
          { block: 14, blockreward: '0xde0b6b3a7640000', miningbeneficiary: C },
          { block: 36, miningbeneficiary: '' },
          { block: 40, validatorselectionmode: 'contract', validatorcontractaddress: V },
        ],
      }
    : {
        ibft2: [
          { block: 14, blockreward: '0', miningbeneficiary: C },
          { block: 44, validators: four.slice(0, 3) },
        ],
      }
const config = {
  chainId,
  homesteadBlock: 0,
  eip150Block: 0,
  eip155Block: 0,
  eip158Block: 0,
  byzantiumBlock: 0,
  constantinopleBlock: 0,
  petersburgBlock: 0,
  istanbulBlock: 0,
  berlinBlock: 0,
  contractSizeLimit: 40000,
  [kind]: bft,
  transitions,
  ...(kind === 'qbft' ? { londonBlock: 0, zeroBaseFee: true, shanghaiTime: 1000 + 48 } : { londonBlock: 20 }),
}
const genesis = {
  config,
  nonce: '0x0',
  timestamp: '0x3e8',
  extraData: extra,
  gasLimit: '0x1c9c380',
  difficulty: '0x1',
  mixHash: '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365',
  coinbase: '0x0000000000000000000000000000000000000000',
  alloc,
}
fs.writeFileSync(`${dir}/genesis.json`, JSON.stringify(genesis, null, 1))
const nonces = [0, 0, 0],
  contracts = []
let body = `366020106100`
{
  // runtime: see below
  const at = 30
  body = `36602010${'61'}${at.toString(16).padStart(4, '0')}57${'36600114'}61${(at + 6).toString(16).padStart(4, '0')}57414355416000524360206000a100`
  if (body.length / 2 !== at) throw new Error(String(body.length / 2))
  body += '5b60006000fd' + '5b33ff'
}
const len = (body.length / 2).toString(16).padStart(2, '0')
const init = `0x60${len}600c60003960${len}6000f3${body}`
const big = (n) => `0x61${n.toString(16).padStart(4, '0')}6000f3`
let i = 0
async function tx(number) {
  const j = i % 3,
    u = users[j]
  const london = kind === 'qbft' || number >= 20
  const free = kind === 'qbft' && i % 2 === 0
  const price = free ? 0n : 3000000000n
  const t = { nonce: nonces[j]++, gasPrice: price, gas: 200000n, chainId, type: 'legacy' }
  switch (i % 10) {
    case 0:
      Object.assign(t, { data: init })
      contracts.push(getContractAddress({ from: u.address, nonce: BigInt(t.nonce) }))
      break
    case 1:
      Object.assign(t, { to: pad(`0x${(i + 0x1000).toString(16)}`, { size: 20 }), value: BigInt(i + 1) })
      break
    case 2:
      Object.assign(t, {
        type: 'eip2930',
        to: contracts.at(-1),
        accessList: [{ address: contracts.at(-1), storageKeys: [`0x${'00'.repeat(32)}`] }],
      })
      break
    case 3:
      Object.assign(t, { to: contracts.at(-1), data: `0x${'11'.repeat(40)}` })
      break
    case 4:
    case 6:
      Object.assign(t, { to: contracts.at(-1) })
      if (london) {
        delete t.gasPrice
        Object.assign(t, { type: 'eip1559', maxFeePerGas: price * 2n, maxPriorityFeePerGas: price / 3n })
      }
      break
    case 5:
      Object.assign(t, { data: big(39000), gas: 9000000n })
      break
    case 7:
      Object.assign(t, { to: contracts.length > 3 ? contracts.shift() : contracts[0], data: '0x01' })
      break
    case 8:
      Object.assign(t, { to: '0x0000000000000000000000000000000000000004', data: '0xabcdef' })
      break
    case 9:
      Object.assign(t, { data: number >= 3 ? big(41000) : '0x', gas: 9000000n })
      break
  }
  if (i % 10 === 7 && contracts.length <= 3) t.data = '0x'
  i++
  return u.signTransaction(t)
}
const lines = [keys.join(','), [C, ...addr.slice(0, 2)].join(',')]
const add = `+${addr[4]}`,
  drop = `-${addr[4]}`
for (let n = 1; n <= 60; n++) {
  let proposer = n % 4,
    signers = [0, 1, 2],
    vote = '-',
    round = 0
  if (n >= 5 && n <= 7) {
    proposer = n - 5
    vote = add
  }
  const five = n >= 8 && n < 30
  if (five) signers = [0, 1, 2, 4]
  if (five && n % 5 === 0) proposer = 4
  if (n >= 27 && n <= 29) {
    proposer = n - 27
    vote = drop
  } // three of five
  if (n === 20) {
    proposer = 3
    vote = add
  } // no change: one already
  if (n === 24) {
    proposer = 0
    vote = `-${addr[3]}`
  } // dropped by the epoch at 25
  if (n === 26) {
    proposer = 1
    vote = `-${addr[3]}`
  }
  if (n === 12 || n === 33) {
    round = 2
    signers = five ? [1, 2, 3, 4] : [1, 2, 3]
  }
  if (kind === 'qbft' && n >= 40) {
    proposer = [0, 1, 2].map((k) => k)[n % 3]
    signers = [0, 1, 2]
    const inC = four.slice(0, 3)
    const ok = [0, 1, 2, 3].filter((k) => inC.includes(addr[k]))
    proposer = ok[n % 3]
    signers = ok.slice(0, 2)
  }
  if (kind === 'ibft2' && n >= 44) {
    const inC = four.slice(0, 3)
    const ok = [0, 1, 2, 3].filter((k) => inC.includes(addr[k]))
    proposer = ok[n % 3]
    signers = ok.slice(0, 2)
  }
  const txs = []
  for (let k = 0; k < (n % 3 === 0 ? 0 : (n % 3) + 1); k++) txs.push(await tx(n))
  lines.push([proposer, round, vote, signers.join(','), ...(txs.length ? [txs.join(',')] : [])].join(' '))
}
fs.writeFileSync(`${dir}/plan.txt`, `${lines.join('\n')}\n`)
