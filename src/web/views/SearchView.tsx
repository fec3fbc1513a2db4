import { useEffect } from 'preact/hooks'
import { CallFailed, callInBatch } from '../client/rpc.js'
import type { Block, L2Block, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { goTo, linkTo, type Route } from '../routing.js'
import { recognise } from '../search.js'
import { ViewTitle } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'

/** Finds what a text names and goes there. */
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
          link === null && (
            <Empty title={`Nothing here is named ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`}>
              Search for a block number or hash, a transaction hash, an address, or a hash of layer 2. What is not in
              this database cannot be found; the <a href={linkTo('')}>overview</a> shows which blocks it holds.
            </Empty>
          )
        }
      </Loaded>
    </>
  )
}

/** The link to what the text names; null for nothing. */
async function findLink(text: string): Promise<string | null> {
  const wanted = recognise(text)
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

/** A look-up that a layer without blocks refuses finds nothing. */
async function orNull<T>(found: Promise<T | null>): Promise<T | null> {
  try {
    return (await found) ?? null
  } catch (error) {
    if (error instanceof CallFailed && error.kind === 'call') return null
    throw error
  }
}
