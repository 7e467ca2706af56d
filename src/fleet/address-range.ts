import ipaddr from 'ipaddr.js';

/** How many devices one selector may name; more is a typing error in most cases. */
export const MOST_DEVICES = 4_096;

/** A term that stands for many words: how many (it may be too many to expand), and which. */
export interface Expansion {
  readonly count: bigint;
  readonly words: () => Iterable<string>;
}

const BRACKET = /\[([^\]]*)\]/;
const LIST = /^\d{1,15}(?:-\d{1,15})?(?:,\d{1,15}(?:-\d{1,15})?)*$/;

/**
 * `10.0.0.[5-9]`, `fw[01-12]`, `r[1,3]c[1-4]:8443`: every bracket with numbers expanded, the last one
 * fastest, zeros in front kept. `undefined` when there is no bracket or a bracket is an IPv6 address.
 * Throws RangeError with a reason.
 */
export function expandBrackets(term: string): Expansion | undefined {
  const match = BRACKET.exec(term);
  if (!match) {
    if (/[[\]]/.test(term)) throw new RangeError(`a bracket is not closed in "${term}"`);
    return undefined;
  }
  const [bracket, list = ''] = match;
  if (list.includes(':')) return undefined;
  if (!LIST.test(list)) {
    throw new RangeError(`"${bracket}" is not a list of numbers such as [5-9] or [1,3,5-7]`);
  }
  const before = term.slice(0, match.index);
  const rest = term.slice(match.index + bracket.length);
  const after = /[[\]]/.test(rest) ? expandBrackets(rest) : undefined;
  const runs = list.split(',').map(parseRun);
  const own = runs.reduce((count, { first, last }) => count + BigInt(last - first + 1), 0n);
  return {
    count: own * (after?.count ?? 1n),
    *words() {
      for (const { first, last, width } of runs) {
        for (let number = first; number <= last; number += 1) {
          const start = before + String(number).padStart(width, '0');
          for (const end of after?.words() ?? [rest]) yield start + end;
        }
      }
    },
  };
}

function parseRun(text: string): { first: number; last: number; width: number } {
  const [from = '', to = from] = text.split('-');
  const first = Number(from);
  const last = Number(to);
  if (last < first) throw new RangeError(`the range ${text} runs backwards`);
  // Only a leading zero asks for padding: [8-12] is 8, 9, 10; [08-12] is 08, 09, 10.
  return { first, last, width: from.startsWith('0') ? from.length : 0 };
}

/**
 * `10.0.0.0/29`, `2001:db8::/120`, `10.0.0.0/29:8443`, `[2001:db8::/120]:8443`: the hosts of a net.
 * IPv4 nets of four addresses and more are without their first (network) and last (broadcast) one.
 * `undefined` when the term has not this form. Throws RangeError with a reason.
 */
export function expandNet(term: string): Expansion | undefined {
  const match =
    /^\[(?<six>[^\]/]*)\/(?<sixBits>\d+)\](?<sixPort>:\d+)?$/.exec(term) ??
    /^\[(?<six>[^\]/]*)\]\/(?<sixBits>\d+)$/.exec(term) ??
    /^(?<net>[^/]*)\/(?<bits>\d+)(?<port>:\d+)?$/.exec(term);
  if (!match?.groups) return undefined;
  const { six, sixBits, sixPort, net, bits, port } = match.groups;
  const address = six ?? net ?? '';
  const prefix = Number(sixBits ?? bits);
  const isVersion4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isVersion4 && !ipaddr.IPv6.isValid(address)) {
    throw new RangeError(`"${address}" in "${term}" is not an IP address`);
  }
  const width = isVersion4 ? 32 : 128;
  if (prefix > width) throw new RangeError(`/${prefix} in "${term}" is more than /${width}`);
  const size = 1n << BigInt(width - prefix);
  const skipsEnds = isVersion4 && size >= 4n;
  const bytes = ipaddr.parse(address).toByteArray();
  const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const first = (number / size) * size + (skipsEnds ? 1n : 0n);
  const count = skipsEnds ? size - 2n : size;
  return {
    count,
    *words() {
      for (let offset = 0n; offset < count; offset += 1n) {
        const host = toAddress(first + offset, bytes.length);
        yield (isVersion4 ? host : `[${host}]`) + (port ?? sixPort ?? '');
      }
    },
  };
}

function toAddress(number: bigint, length: number): string {
  const bytes = Array.from({ length }, (_, index) =>
    Number((number >> BigInt(8 * (length - 1 - index))) & 0xffn),
  );
  return ipaddr.fromByteArray(bytes).toString();
}
