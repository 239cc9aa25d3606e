y = ~x
