"""FKL302: generators that workers share by copy, and seeds that are the same in each of them."""
