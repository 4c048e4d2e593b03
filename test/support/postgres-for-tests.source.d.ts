export declare function compileDirectory(source: string, target: string): void;
