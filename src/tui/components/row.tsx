import { Text } from 'ink';

/** One line of the screen, cut already. An empty one still takes its place. */
export function Row({ children }: { readonly children: string }) {
  return <Text wrap="truncate">{children === '' ? ' ' : children}</Text>;
}
