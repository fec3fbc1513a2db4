// A string, or a number as JSON writes it. Strings are matched whole so that no digits inside them are taken.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** 15 digits are always below 2^53. */
const EXACT_DIGITS = 15

/** The value of a JSON text, with integers of more than 15 digits as their decimal text: `JSON.parse` would round
 *  those beyond 2^53. @throws SyntaxError when it is no JSON. */
export function parseJsonExact(text: string): unknown {
  if (!/[[:,\s]-?\d{16}/.test(text)) return JSON.parse(text)
  const quoted = text.replace(TOKENS, (token) => {
    const isLongInteger = token.length > EXACT_DIGITS && /^-?\d+$/.test(token)
    return isLongInteger ? `"${token}"` : token
  })
  return JSON.parse(quoted)
}
