import { useEffect, useState } from 'preact/hooks'
import { formatUnits, hexToNumber } from 'viem'
import { cutMiddle, formatAge, formatBriefly, formatCount, formatEther, formatTime } from '../format.js'
import { linkTo } from '../routing.js'
import { Icon } from './Icon.js'
import { Name, useLabel } from './Name.js'

/** A button that copies a text. */
export function CopyButton({ text, what = 'value' }: { text: string; what?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () => void copyText(text).then((worked) => setCopied(worked))
  return (
    <button type="button" class="copy" onClick={copy} aria-label={isCopied ? 'Copied' : `Copy ${what}`} title="Copy">
      <Icon name={isCopied ? 'done' : 'copy'} />
    </button>
  )
}

/** Copies text if allowed: browsers permit the clipboard only on HTTPS and on localhost. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  const worked = document.execCommand('copy')
  field.remove()
  return worked
}

/** Hex or other machine text, truncated in the middle unless `whole`. */
export function Code({ text, whole = false, copies = true }: { text: string; whole?: boolean; copies?: boolean }) {
  return (
    <span class="value">
      <code class={whole ? 'whole' : undefined} title={whole ? undefined : text}>
        {whole ? text : cutMiddle(text)}
      </code>
      {copies && text.length > 12 && <CopyButton text={text} />}
    </span>
  )
}

interface LinkProps {
  /** Show in full if there is space. */
  whole?: boolean
  /** Show ten digits, for tables with many columns. */
  isBrief?: boolean
  copies?: boolean
}

function LinkedCode({
  text,
  href,
  what,
  whole,
  isBrief = false,
  copies = true,
}: LinkProps & { text: string; href: string; what: string }) {
  return (
    <span class="value">
      <a href={href} title={whole ? undefined : text}>
        <code class={whole ? 'whole' : undefined}>
          {whole ? text : isBrief ? cutMiddle(text, 6, 4) : cutMiddle(text)}
        </code>
      </a>
      {copies && <CopyButton text={text} what={what} />}
    </span>
  )
}

/** A link to an address, with its label: beside the whole address, or instead of the truncated one. */
export function AddressLink({ address, whole, isBrief, copies = true }: LinkProps & { address: string }) {
  const label = useLabel(address)
  const href = linkTo('address', address)
  const link = { text: address, href, what: 'address', copies }
  if (label === undefined) return <LinkedCode {...link} whole={whole} isBrief={isBrief} />
  if (whole) {
    return (
      <>
        <LinkedCode {...link} whole />{' '}
        <span class="badge label">
          <Name text={label.text} />
        </span>
      </>
    )
  }
  return (
    <span class="value">
      <a class="label" href={href} title={address}>
        <Name text={label.text} />
      </a>
      {copies && <CopyButton text={address} what="address" />}
    </span>
  )
}

/** A link to a transaction. */
export function TransactionLink({ hash, ...props }: LinkProps & { hash: string }) {
  return <LinkedCode text={hash} href={linkTo('tx', hash)} what="transaction hash" {...props} />
}

/** A link to a block, by its number. */
export function BlockLink({ number }: { number: string | number }) {
  const value = typeof number === 'number' ? number : hexToNumber(number as `0x${string}`)
  return (
    <a class="number" href={linkTo('block', value)}>
      {formatCount(value)}
    </a>
  )
}

/** An amount of wei in ether. `isBrief` shows six decimals, and all of them as a hint. */
export function Ether({ wei, isBrief = false }: { wei: bigint | string; isBrief?: boolean }) {
  if (isBrief) {
    return (
      <span class="number" title={`${formatEther(BigInt(wei))} ETH`}>
        {formatBriefly(formatUnits(BigInt(wei), 18))}
      </span>
    )
  }
  return (
    <span class="number">
      {formatEther(BigInt(wei))} <abbr title="ether">ETH</abbr>
    </span>
  )
}

/** A time in Unix seconds, with its age. */
export function Time({ seconds, onlyAge = false }: { seconds: bigint | string; onlyAge?: boolean }) {
  const value = BigInt(seconds)
  const text = formatTime(value)
  const age = formatAge(value, Date.now())
  if (onlyAge) return <time title={text}>{age}</time>
  return (
    <time>
      {text} <span class="quiet">({age})</span>
    </time>
  )
}
