import { useEffect } from 'preact/hooks'
import { hexToNumber, numberToHex } from 'viem'
import type { AbiSource, KnownSignature } from '../client/abis.js'
import { CallFailed, call, callInBatch } from '../client/rpc.js'
import { findTokens } from '../client/tokens.js'
import type { Block, Hex, L2Block, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount } from '../format.js'
import { goTo, linkTo, type Route } from '../routing.js'
import { recognise } from '../search.js'
import { Section, Table, ViewTitle } from '../ui/Layout.js'
import { Name } from '../ui/Name.js'
import { Empty, Loaded } from '../ui/States.js'

/** Finds what a text refers to and navigates there, or lists the matches. */
export function SearchView({ route }: { route: Route }) {
  const text = route.query.get('q') ?? ''
  const found = useRequest(() => findLink(text), [text])
  useEffect(() => {
    if (typeof found.data === 'string') goTo(found.data, { replaces: true })
  }, [found.data])
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return (
    <>
      <ViewTitle item={shown}>Search</ViewTitle>
      <Loaded request={found} what="what was found">
        {(data) => typeof data !== 'string' && <Matches found={data} text={shown} />}
      </Loaded>
    </>
  )
}

/** What matches a text. */
interface Found {
  readonly matches: readonly Match[]
  /** Bounds of the blocks that were searched for the beginning of a hash or address; undefined if none were. */
  readonly searched?: { readonly prefix: string; readonly from: number; readonly to: number }
  /** True if the server has not read all token contracts yet. */
  readonly isPartial?: boolean
}

interface Match {
  readonly what: string
  readonly text: string
  /** Undefined for an error that no contract is known to have. */
  readonly link?: string
  readonly note?: string
}

function Matches({ found, text }: { found: Found; text: string }) {
  return (
    <>
      <MatchList found={found} text={text} />
      {found.isPartial === true && (
        <p class="quiet">
          The server is still reading the names of tokens:{' '}
          <a href={linkTo('search', '', { q: text, again: '1' })}>search again</a> for more.
        </p>
      )}
    </>
  )
}

function MatchList({ found: { matches, searched }, text }: { found: Found; text: string }) {
  const range = searched && `blocks ${formatCount(searched.from)} to ${formatCount(searched.to)}`
  if (matches.length === 0) {
    return searched === undefined ? (
      <Empty title={`Nothing here is named ${text}`}>
        Search for a block number or hash, a transaction hash, an address, a hash of layer 2, the name or symbol of a
        token, or the name of a contract, function, event or JSON-RPC method. What is not in this database cannot be
        found; the <a href={linkTo('')}>overview</a> shows which blocks it holds.
      </Empty>
    ) : (
      <Empty title={`Nothing in ${range} begins with ${searched.prefix}`}>
        Only the newest blocks are searched for the beginning of an address or hash. Older ones are found by the whole
        address (40 digits) or hash (64 digits).
      </Empty>
    )
  }
  return (
    <Section
      title={searched === undefined ? `Matches of ${text}` : `Begins with ${searched.prefix}`}
      note={range && `in ${range}`}
    >
      <Table
        caption="Matches"
        columns={['What', 'Name', { name: 'Where', isWide: true }]}
        rows={matches.map(({ what, text: name, link, note }) => [
          what,
          link === undefined ? (
            <code class="whole">{name}</code>
          ) : (
            <a href={link}>
              <code class="whole">{name}</code>
            </a>
          ),
          note === undefined ? '' : <Name text={note} />,
        ])}
      />
    </Section>
  )
}

/** Matches by name. */
type Named = Required<Pick<Found, 'matches' | 'isPartial'>>

const TYPES = { function: 'Function', event: 'Event', error: 'Error' }

/** Contracts and tokens whose names have the text; functions, events and JSON-RPC methods whose names begin with it. */
async function findNames(text: string): Promise<Named> {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return { matches: [], isPartial: false }
  const isMethod = /^[a-z0-9]+_[a-z0-9]*$/.test(wanted)
  const [tokens, abis, signatures, document] = await Promise.all([
    wanted.startsWith('0x') || wanted.length > MAX_TOKEN_TEXT ? null : orNull(findTokens(wanted, MAX_TOKENS)),
    orNull(callInBatch<AbiSource[]>('cairn_listAbis')),
    orNull(callInBatch<KnownSignature[]>('cairn_findSignatures', [wanted, MAX_MATCHES])),
    isMethod ? orNull(call<{ methods: { name: string; summary: string }[] }>('rpc_discover')) : null,
  ])
  const contracts = (abis ?? []).filter(({ name, address }) => address && name.toLowerCase().includes(wanted))
  const methods = (document?.methods ?? []).filter(({ name }) => name.toLowerCase().startsWith(wanted))
  // A contract that is found by its ABI is not listed again.
  const ofContracts = new Set(contracts.map(({ address }) => address))
  const others = (tokens?.tokens ?? []).filter(({ address }) => !ofContracts.has(address))
  const matches = [
    ...contracts.map(({ name, address }) => {
      return { what: 'Contract', text: name, link: linkTo('address', address ?? ''), note: address ?? '' }
    }),
    ...others.map(({ name, symbol, address }) => ({
      what: 'Token',
      text: [name, symbol !== name && symbol].filter(Boolean).join(', '),
      link: linkTo('token', address),
      note: address,
    })),
    ...methods.map(({ name, summary }) => ({
      what: 'Method',
      text: name,
      link: linkTo('console', name),
      note: summary,
    })),
    ...(signatures ?? []).map((each) => ({
      what: TYPES[each.type],
      text: each.signature,
      link: linkOfSignature(each),
      note: each.address === null ? each.abi : `${each.abi}, ${each.address}`,
    })),
  ]
  return { matches: matches.slice(0, MAX_MATCHES), isPartial: tokens?.isComplete === false }
}

/** Links to the logs of an event, to the contract of a function or error, and else to a query for its calls. */
function linkOfSignature({ type, signature, hash, address }: KnownSignature): string | undefined {
  if (type === 'event') return linkTo('logs', '', { address: address ?? '', topic0: signature, run: '1' })
  if (address !== null) return linkTo('address', address, { tab: 'contract' })
  if (type === 'error') return undefined
  const query = `SELECT block_number, hash, "from", "to" FROM v_transactions WHERE selector = '${hash}' LIMIT 50`
  return linkTo('sql', '', { q: query, run: '1' })
}

/** Blocks searched for the prefix of an address or hash, and matches shown. */
const SEARCHED_BLOCKS = 25
const MAX_MATCHES = 50
const MAX_TOKENS = 20
/** The server's limit. */
const MAX_TOKEN_TEXT = 256

/** Returns the link to the block if the text is a block number, or to the only match; else all matches. */
async function findBeginning(prefix: string, block: string | undefined): Promise<string | Found> {
  const head = hexToNumber(await call<Hex>('eth_blockNumber'))
  if (block !== undefined && Number(block) <= head) return linkTo('block', block)
  const from = Math.max(0, head - SEARCHED_BLOCKS + 1)
  const numbers = Array.from({ length: head - from + 1 }, (_, i) => head - i)
  const blocks = await Promise.all(
    numbers.map((number) => orNull(callInBatch<Block | null>('eth_getBlockByNumber', [numberToHex(number), true]))),
  )
  const named = await findNames(prefix)
  const matches = new Map(named.matches.map((match) => [match.text, match]))
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
  if (matches.size === 1 && only.link !== undefined) return only.link
  return { ...named, matches: [...matches.values()], searched: { prefix, from, to: head } }
}

/** Returns the link to what the text refers to, or all that matches it. */
async function findLink(text: string): Promise<string | Found> {
  const wanted = recognise(text)
  if (wanted.kind === 'prefix') return (await findFelt(wanted)) ?? findBeginning(wanted.prefix, wanted.block)
  if (wanted.kind === 'block') return linkTo('block', wanted.block)
  if (wanted.kind === 'address') return linkTo('address', wanted.address)
  if (wanted.kind === 'nothing') return onlyOrAll(await findNames(text))
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
  return l2Status === null ? onlyOrAll(await findNames(text)) : linkTo('l2', '', { tx: hash })
}

function onlyOrAll({ matches, isPartial }: Named): string | Found {
  const [only] = matches
  return matches.length === 1 && !isPartial && only.link !== undefined ? only.link : { matches, isPartial }
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
