import { useEffect } from 'preact/hooks'
import { hexToNumber, numberToHex } from 'viem'
import { CallFailed, call, callInBatch } from '../client/rpc.js'
import type { Block, Hex, L2Block, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount } from '../format.js'
import { goTo, linkTo, type Route } from '../routing.js'
import { recognise } from '../search.js'
import { Section, Table, ViewTitle } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'

/** Finds what a text refers to and navigates there. */
export function SearchView({ route }: { route: Route }) {
  const text = route.query.get('q') ?? ''
  const found = useRequest(() => findLink(text), [text])
  useEffect(() => {
    if (typeof found.data === 'string') goTo(found.data, { replaces: true })
  }, [found.data])
  return (
    <>
      <ViewTitle>Search</ViewTitle>
      <Loaded request={found} what="what was found">
        {(link) =>
          link !== null && typeof link === 'object' ? (
            <Beginnings found={link} />
          ) : (
            link === null && (
              <Empty title={`Nothing here is named ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`}>
                Search for a block number or hash, a transaction hash, an address, or a hash of layer 2. What is not in
                this database cannot be found; the <a href={linkTo('')}>overview</a> shows which blocks it holds.
              </Empty>
            )
          )
        }
      </Loaded>
    </>
  )
}

/** Matches in the newest blocks that begin with the text. */
interface Beginning {
  readonly prefix: string
  readonly matches: readonly Match[]
  /** Bounds of the searched blocks. */
  readonly from: number
  readonly to: number
}

interface Match {
  readonly what: 'Address' | 'Block' | 'Transaction'
  readonly text: string
  readonly link: string
}

function Beginnings({ found: { prefix, matches, from, to } }: { found: Beginning }) {
  const range = `blocks ${formatCount(from)} to ${formatCount(to)}`
  if (matches.length === 0) {
    return (
      <Empty title={`Nothing in ${range} begins with ${prefix}`}>
        Only the newest blocks are searched for the beginning of an address or hash. Older ones are found by the whole
        address (40 digits) or hash (64 digits).
      </Empty>
    )
  }
  return (
    <Section title={`Begins with ${prefix}`} note={`in ${range}`}>
      <Table
        caption={`What begins with ${prefix}`}
        columns={['What', 'Address or hash']}
        rows={matches.map(({ what, text, link }) => [
          what,
          <a key={text} href={link}>
            <code class="whole">{text}</code>
          </a>,
        ])}
      />
    </Section>
  )
}

/** Blocks searched for the prefix of an address or hash, and matches shown. */
const SEARCHED_BLOCKS = 25
const MAX_MATCHES = 50

/** Returns the link to the block if the text is a block number, or to the only match; else all matches. */
async function findBeginning(prefix: string, block: string | undefined): Promise<string | Beginning> {
  const head = hexToNumber(await call<Hex>('eth_blockNumber'))
  if (block !== undefined && Number(block) <= head) return linkTo('block', block)
  const from = Math.max(0, head - SEARCHED_BLOCKS + 1)
  const numbers = Array.from({ length: head - from + 1 }, (_, i) => head - i)
  const blocks = await Promise.all(
    numbers.map((number) => orNull(callInBatch<Block | null>('eth_getBlockByNumber', [numberToHex(number), true]))),
  )
  const matches = new Map<string, Match>()
  const add = (what: Match['what'], view: string, text: string | null | undefined) => {
    if (text?.startsWith(prefix) && matches.size < MAX_MATCHES)
      matches.set(text, { what, text, link: linkTo(view, text) })
  }
  for (const each of blocks) {
    if (each === null) continue
    add('Block', 'block', each.hash)
    add('Address', 'address', each.miner)
    for (const transaction of each.transactions) {
      if (typeof transaction === 'string') continue
      add('Transaction', 'tx', transaction.hash)
      add('Address', 'address', transaction.from)
      add('Address', 'address', transaction.to)
    }
  }
  const [only] = matches.values()
  return matches.size === 1 ? only.link : { prefix, matches: [...matches.values()], from, to: head }
}

/** Returns the link to what the text refers to, or the matches that begin with it; null if nothing is found. */
async function findLink(text: string): Promise<string | Beginning | null> {
  const wanted = recognise(text)
  if (wanted.kind === 'prefix') return (await findFelt(wanted)) ?? findBeginning(wanted.prefix, wanted.block)
  if (wanted.kind === 'block') return linkTo('block', wanted.block)
  if (wanted.kind === 'address') return linkTo('address', wanted.address)
  if (wanted.kind === 'nothing') return null
  const { hash } = wanted
  const isWhole = hash.length === 66
  const [transaction, block, l2Block] = await Promise.all([
    isWhole ? orNull(callInBatch<Transaction | null>('eth_getTransactionByHash', [hash])) : null,
    isWhole ? orNull(callInBatch<Block | null>('eth_getBlockByHash', [hash, false])) : null,
    orNull(callInBatch<L2Block | null>('zk_getBlockWithTxHashes', { block_id: { block_hash: hash } })),
  ])
  if (transaction !== null) return linkTo('tx', hash)
  if (block !== null) return linkTo('block', hash)
  if (l2Block !== null) return linkTo('l2', l2Block.block_number)
  const l2Status = await orNull(callInBatch('starknet_getTransactionStatus', [hash]))
  return l2Status === null ? null : linkTo('l2', '', { tx: hash })
}

/** Finds a layer-2 hash that looks like a prefix because many leading zeros are omitted. */
async function findFelt({ prefix, block }: { prefix: string; block?: string }): Promise<string | null> {
  if (block !== undefined) return null
  const found = await orNull(
    callInBatch<L2Block | null>('zk_getBlockWithTxHashes', { block_id: { block_hash: prefix } }),
  )
  return found === null ? null : linkTo('l2', found.block_number)
}

/** Returns null for a lookup that a layer without blocks refuses. */
async function orNull<T>(found: Promise<T | null>): Promise<T | null> {
  try {
    return (await found) ?? null
  } catch (error) {
    if (error instanceof CallFailed && error.kind === 'call') return null
    throw error
  }
}
