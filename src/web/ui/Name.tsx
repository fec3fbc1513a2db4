import { useEffect, useState } from 'preact/hooks'
import { chooseSignature, type KnownSignature, labels, signaturesOf } from '../client/abis.js'
import { useStore } from '../client/store.js'
import { cutMiddle } from '../format.js'

/** Longer names are truncated: they come from files that others wrote. */
const MAX_NAME = 48

/** A name from an ABI, a token or a wallet, isolated from the text around it: it may have any characters. */
export function Name({ text, title }: { text: string; title?: string }) {
  const clean = text.replace(/[\p{Cc}\p{Cf}]/gu, '')
  return <bdi title={title}>{clean.length > MAX_NAME ? `${clean.slice(0, MAX_NAME)}…` : clean}</bdi>
}

/** Returns the label of an address; undefined if it has none. */
export function useLabel(address: string) {
  return useStore(labels).get(address.toLowerCase())
}

/** Name of the function that an input calls; its selector if the name is unknown. */
export function MethodName({ input, to }: { input: string; to: string | null }) {
  const selector = input.slice(0, 10)
  const known = useSignature(to === null || selector.length < 10 ? undefined : selector, 'function', to)
  if (to === null) return <span class="quiet">create</span>
  if (selector.length < 10) return <span class="quiet">{input === '0x' ? 'transfer' : 'data'}</span>
  return known === undefined ? (
    <code>{selector}</code>
  ) : (
    <code class="method-name" title={`${known.signature}, ${selector}`}>
      {known.name}
    </code>
  )
}

/** Name of the event of a topic 0; the topic if the name is unknown. */
export function EventName({ topic, address }: { topic: string | undefined; address: string }) {
  const known = useSignature(topic, 'event', address)
  if (topic === undefined) return <span class="quiet">anonymous</span>
  return known === undefined ? (
    <code title={topic}>{cutMiddle(topic)}</code>
  ) : (
    <span title={`${known.signature}, ${topic}`}>{known.name}</span>
  )
}

function useSignature(
  hash: string | undefined,
  type: KnownSignature['type'],
  address: string | null,
): KnownSignature | undefined {
  const [known, setKnown] = useState<KnownSignature | undefined>()
  useEffect(() => {
    let isCurrent = true
    setKnown(undefined)
    if (hash !== undefined) {
      void signaturesOf(hash).then((found) => isCurrent && setKnown(chooseSignature(found, type, address)))
    }
    return () => {
      isCurrent = false
    }
  }, [hash, type, address])
  return known
}
