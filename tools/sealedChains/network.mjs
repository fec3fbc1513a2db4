// network.mjs genesis DIR: writes genesis.json and keys.json for Network, with forks by time from now on, and prints the keys.
// network.mjs drive PORT DIR: transactions, votes, a stopped validator and changes of the validator contract, for 4 minutes.
// network.mjs record PORT HEAD DIR OUT: records the chain for the tests.
import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { getContractAddress, keccak256, pad, toBytes, toRlp } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const CHAIN_ID = 4747
const keys = [0, 1, 2, 3, 4].map((i) => keccak256(toBytes(`cairn qbft validator ${i}`)))
const validators = keys.map((key) => privateKeyToAccount(key).address.toLowerCase())
const users = [0, 1, 2, 3].map((i) => privateKeyToAccount(keccak256(toBytes(`cairn qbft user ${i}`))))
const BENEFICIARY = '0x00000000000000000000000000000000000c0ffe'
const CONTRACT = '0x0000000000000000000000000000000000007777'
const word = (value) => pad(value, { size: 32 })
const hex = (number) => `0x${number.toString(16)}`

function writeGenesis(folder) {
  const now = Math.floor(Date.now() / 1000)
  const four = validators.slice(0, 4).sort()
  // Four bytes of input: the list in its storage, whose length is in slot 0. Two words: sets a slot.
  const code =
    '0x36600414600f5760203560003555005b60206000526000548060205260015b81811160355780548160200260200152600101601e565b506020026040016000f3'
  const slots = ['0x4', ...four].map((value, slot) => [word(hex(slot)), word(value)])
  const alloc = { [CONTRACT]: { balance: '0x0', code, storage: Object.fromEntries(slots) } }
  for (const { address } of users) alloc[address] = { balance: '0x21e19e0c9bab2400000' }
  // The contracts of EIP-4788 and EIP-2935, which these chains do not call.
  const stop = { balance: '0x0', nonce: '0x1', code: '0x600160005500' }
  alloc['0x000f3df6d732807ef1319fb7b8bb8522d0beac02'] = stop
  alloc['0x0000f90827f1c53a10cb7a02335b175320002935'] = stop
  const named = ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul']
  const byNumber = Object.fromEntries([...named, 'berlin', 'london'].map((fork) => [`${fork}Block`, 0]))
  const byTime = { shanghaiTime: now + 140, cancunTime: now + 160, pragueTime: now + 180, osakaTime: now + 205 }
  const qbft = {
    ...{ epochlength: 25, blockperiodseconds: 1, requesttimeoutseconds: 10, blockreward: '2000000000000000000' },
  }
  const transitions = [
    { block: 4, blockreward: '0xde0b6b3a7640000', miningbeneficiary: BENEFICIARY },
    { block: 9, miningbeneficiary: '' },
    { block: 18, validatorselectionmode: 'contract', validatorcontractaddress: CONTRACT },
  ]
  const rules = { chainId: CHAIN_ID, ...byNumber, ...byTime, zeroBaseFee: true, contractSizeLimit: 40000 }
  const genesis = {
    config: { ...rules, qbft, transitions: { qbft: transitions } },
    ...{ nonce: '0x0', timestamp: hex(now), gasLimit: '0x1c9c380', difficulty: '0x1' },
    extraData: toRlp([`0x${'00'.repeat(32)}`, four, [], '0x', []]),
    mixHash: '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365',
    ...{ coinbase: `0x${'00'.repeat(20)}`, alloc },
  }
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(`${folder}/genesis.json`, JSON.stringify(genesis, null, 1))
  console.log(keys.join(','))
}

const clientOf = (port) => async (method, params) => {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

async function send(rpc, user, transaction) {
  const nonce = Number(await rpc('eth_getTransactionCount', [user.address, 'pending']))
  const raw = await user.signTransaction({ chainId: CHAIN_ID, nonce, gas: 400_000n, ...transaction })
  await rpc('eth_sendRawTransaction', [raw]).catch(({ message }) => console.log(transaction.type, message))
}

/** Transactions of users 0 and 2; a contract stores what instructions read of the block. */
async function sendTraffic(rpc, until) {
  // COINBASE, BASEFEE, GASPRICE, BLOCKHASH, TIMESTAMP, and BLOBBASEFEE, which fails before Cancun. Not PREVRANDAO: Besu's proposers read
  // another value than its validators.
  const reads = ['41', '48', '3a', '6001430340', '42', '4a']
  const body = `${reads.map((op, i) => `${op}43600a0260${hex(i).slice(2).padStart(2, '0')}0155`).join('')}00`
  const size = (body.length / 2).toString(16).padStart(2, '0')
  const probe = getContractAddress({ from: users[0].address, nonce: 0n })
  const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
  await send(rpc, users[0], { type: 'eip1559', data: `0x60${size}600c60003960${size}6000f3${body}`, ...free })
  for (let i = 0; Date.now() < until; i++, await sleep(1200)) {
    const user = users[(i % 2) * 2]
    const fresh = pad(hex(0x10000 + i), { size: 20 })
    const authorization = { chainId: CHAIN_ID, address: probe, nonce: 0 }
    const kinds = [
      () => ({ type: 'eip1559', to: probe, ...free }),
      () => ({ type: 'legacy', to: fresh, value: BigInt(i + 1), gasPrice: 0n }),
      () => ({
        type: 'eip2930',
        to: probe,
        gasPrice: 0n,
        accessList: [{ address: probe, storageKeys: [word('0x0')] }],
      }),
      () => ({ type: 'eip1559', to: pad('0x4', { size: 20 }), data: '0xabcdef', ...free }),
      () => ({ type: 'eip1559', data: '0x615a3c6000f3', ...free }),
      async () => {
        const authorizationList = [await users[3].signAuthorization(authorization)]
        return { type: 'eip7702', to: users[3].address, authorizationList, ...free }
      },
    ]
    await send(rpc, user, await kinds[i % kinds.length]())
  }
}

async function sendEvents(rpc, start) {
  const at = async (seconds) => {
    await sleep(Math.max(0, (start + seconds) * 1000 - Date.now()))
    console.log(seconds, 'head', Number(await rpc('eth_blockNumber', [])), await rpc('test_validators', []))
  }
  const fifth = validators[4]
  const vote = async (proposers, adds) => {
    for (const i of proposers) await rpc('test_vote', [i, adds, fifth])
  }
  const set = (slot, value) =>
    send(rpc, users[1], { type: 'legacy', to: CONTRACT, data: `${word(slot)}${word(value).slice(2)}`, gasPrice: 0n })
  await at(10)
  await rpc('test_up', [4])
  await vote([0, 1, 2], true)
  await at(34)
  for (const i of [0, 1, 2]) await rpc('test_unvote', [i, fifth])
  await vote([0, 2, 3], false)
  await at(146)
  await set('0x5', fifth)
  await set('0x0', '0x5')
  await at(165)
  await rpc('test_down', [1])
  await at(190)
  await rpc('test_up', [1])
  await set('0x1', fifth)
  await set('0x0', '0x4')
  await at(216)
  await set('0x0', '0x3')
  await at(240)
}

async function record(rpc, head, folder, out) {
  const genesis = JSON.parse(fs.readFileSync(`${folder}/genesis.json`))
  const lines = [JSON.stringify({ genesis, hash: (await rpc('eth_getBlockByNumber', ['0x0', false])).hash })]
  for (let n = 1; n <= head; n++) {
    const raw = await rpc('debug_getRawBlock', [hex(n)])
    const { hash } = await rpc('eth_getBlockByNumber', [hex(n), false])
    const receipts = (await rpc('eth_getBlockReceipts', [hex(n)])).map(
      ({ status, cumulativeGasUsed, contractAddress, logs }) => ({
        ...{ status, cumulativeGasUsed, contractAddress, logs: logs.length },
      }),
    )
    const balances = {}
    for (const address of [BENEFICIARY, ...validators.slice(0, 2)])
      balances[address] = await rpc('eth_getBalance', [address, hex(n)])
    lines.push(JSON.stringify({ raw, hash, receipts, balances, validators: await rpc('test_validatorsAfter', [n]) }))
  }
  const text = lines.join('\n')
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants
  const params = { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: text.length }
  fs.writeFileSync(out, brotliCompressSync(text, { params }))
}

const [mode, first, second, third, fourth] = process.argv.slice(2)
if (mode === 'genesis') writeGenesis(first)
else if (mode === 'record') await record(clientOf(first), Number(second), third, fourth)
else {
  const start = Number(JSON.parse(fs.readFileSync(`${second}/genesis.json`)).timestamp)
  await Promise.all([sendEvents(clientOf(first), start), sendTraffic(clientOf(first), (start + 240) * 1000)])
}
